//! Power of idle processors, from the summary of a run.

use serde_json::Value;

/// Milliwatts that an idle processor of each site draws: idle energy over idle processor time. This is the power in the platform
/// where the processors of a site are alike, and a mean where they are not; zero if the run has no power.
pub(super) fn idle_power(summary: Option<&Value>, sites: &[String]) -> Vec<i64> {
    let of = |value: &Value| {
        let joules = value["energy"]["idle_kwh"].as_f64().unwrap_or(0.0) * 3.6e6;
        let idle = ["idle", "reserved"].iter().filter_map(|key| value["usage"][*key].as_f64()).sum::<f64>();
        if idle > 0.0 { libm::round(joules / idle * 1e3) as i64 } else { 0 }
    };
    let Some(summary) = summary else { return vec![0; sites.len()] };
    let listed = summary["sites"].as_array();
    let site = |name: &String| match listed {
        Some(listed) => listed.iter().find(|site| site["name"].as_str() == Some(name)).map_or(0, of),
        None => of(summary),
    };
    sites.iter().map(site).collect()
}
