//! Campaigns, procedures, calibrations and the runner, as step machines.
