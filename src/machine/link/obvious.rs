//! Max-min fair shares, the obvious way: fill all flows alike until a link is full, freeze its flows, go on.
//!
//! Bertsekas, Gallager, Data Networks, 6.5.2 (progressive filling). Every call starts from nothing: the fast
//! implementation is tested against this one.

/// The rate of each flow. `routes[f]` names the links of flow f; a flow without links has rate infinity.
pub fn obvious_shares(capacity: &[f64], routes: &[&[usize]]) -> Vec<f64> {
    let mut rate = vec![f64::INFINITY; routes.len()];
    let mut open: Vec<bool> = routes.iter().map(|route| !route.is_empty()).collect();
    let mut left = capacity.to_vec();
    loop {
        let share_of = |link: usize| {
            let users = (0..routes.len()).filter(|&f| open[f] && routes[f].contains(&link)).count();
            (users > 0).then(|| left[link] / users as f64)
        };
        let shares = (0..capacity.len()).filter_map(|link| Some((link, share_of(link)?)));
        let Some((full, share)) = shares.min_by(|a, b| a.1.total_cmp(&b.1)) else { return rate };
        for flow in 0..routes.len() {
            if open[flow] && routes[flow].contains(&full) {
                open[flow] = false;
                rate[flow] = share;
                for &link in routes[flow] {
                    left[link] -= share;
                }
            }
        }
    }
}
