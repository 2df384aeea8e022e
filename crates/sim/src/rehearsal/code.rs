//! The robot's code of one boot: server, loop, op modes, files.

use std::rc::Rc;

use fieldlab_base::Micros;
use fieldlab_nt4_net::{Hub, LocalPipe};
use fieldlab_robot::driver_station::{DriverPanel, OpModeId};
use fieldlab_robot::hw::RobotIo;
use fieldlab_robot::network::{NtOperator, hub};
use fieldlab_robot::robot_loop::{LoopConfig, LoopParts, RobotLoop};
use fieldlab_robot::site::{Pace, Site};
use fieldlab_robot::telemetry::{Door, NtSink};

use super::RehearsalError;
use super::disk::{DiskState, ScriptedDisk};
use crate::operator::ScriptedOperator;
use crate::rng::Rng;
use crate::world::SharedWorld;

/// One boot of the robot's code.
pub(super) struct Code {
    pub(super) hub: Hub,
    pub(super) field_lab: OpModeId,
    robot: RobotLoop,
    site: Site,
    disk: DiskState,
    pipe: Option<LocalPipe>,
    booted_at: Micros,
}

impl Code {
    /// Switches it on at `booted_at` by the world's clock.
    pub(super) fn boot(
        world: &SharedWorld,
        panel: &DriverPanel,
        config: &super::RehearsalConfig,
        op_modes: &super::OpModes<'_>,
        boot: u64,
        booted_at: Micros,
    ) -> Result<Self, RehearsalError> {
        let disk = DiskState::default();
        let mut site =
            Site::new(&config.out, Pace::Virtual, Rng::stream(config.seed, "boot").next_u64() ^ boot);
        site.checkpoint = config.out.join("fieldlab-checkpoint.json");
        site.header = super::header(config, world);
        site.advantage_kit = config.advantage_kit;
        let state = disk.clone();
        site.layers = Rc::new(move || Box::new(ScriptedDisk::new(state.clone())));
        let hub = hub()?;
        let door = Door::new();
        door.attach(Box::new(NtSink::direct(hub.clone())));
        let io: Box<dyn RobotIo> = Box::new(world.rebooted(booted_at));
        let parts = LoopParts {
            io,
            station: Box::new(panel.clone()),
            operator: Box::new(NtOperator::direct(hub.clone())),
            door,
            site: site.clone(),
            op_modes: op_modes()?,
        };
        let mut robot = RobotLoop::new(LoopConfig::default(), parts)?;
        if let Some(identity) = &config.identity {
            robot.declare(identity.clone());
        }
        let field_lab = robot.find(super::FIELD_LAB).ok_or(RehearsalError::NoFieldLab)?;
        Ok(Self { hub, field_lab, robot, site, disk, pipe: None, booted_at })
    }

    /// Carries the dashboard's messages until both sides are quiet; connects it first when it may be connected.
    pub(super) fn carry(
        &mut self,
        operator: &mut ScriptedOperator,
        at: Micros,
        online: bool,
    ) -> Result<(), RehearsalError> {
        let now = at.since(self.booted_at);
        if !online {
            if let Some(mut pipe) = self.pipe.take() {
                pipe.close(operator.client(), now);
            }
            return Ok(());
        }
        let open = self.pipe.as_ref().is_some_and(LocalPipe::is_open);
        if !open {
            let pipe = self.hub.connect_local_as(operator.client_name(), operator.version(), now);
            self.pipe = Some(pipe.map_err(|e| RehearsalError::Refused(e.to_string()))?);
        }
        if let Some(pipe) = &mut self.pipe {
            pipe.pump(operator.client(), now);
        }
        Ok(())
    }

    /// One turn of the loop at this instant of the world's clock.
    pub(super) fn tick(&mut self, at: Micros, unix: Micros) {
        self.robot.tick(at.since(self.booted_at), Some(unix));
    }

    /// Its own clock at this instant of the world's.
    pub(super) fn clock(&self, at: Micros) -> Micros {
        at.since(self.booted_at)
    }

    /// Why the selected op mode does not run, if it does not.
    pub(super) fn fault(&self) -> Option<&str> {
        self.robot.fault()
    }

    pub(super) fn set_disk_full(&self, full: bool) {
        // What was handed to the log before belongs on the disk before it fills.
        self.site.settle_log();
        self.disk.set_full(full);
    }

    /// Ends it in good order.
    pub(super) fn shut_down(mut self, operator: &mut ScriptedOperator, at: Micros) {
        let now = at.since(self.booted_at);
        self.robot.stop(now);
        self.site.close_log();
        if let Some(mut pipe) = self.pipe.take() {
            pipe.close(operator.client(), now);
        }
    }

    /// Ends it at once: nothing that it still wants to write reaches the disk.
    pub(super) fn kill(mut self, operator: &mut ScriptedOperator, at: Micros) {
        self.site.settle_log();
        self.disk.kill();
        if let Some(mut pipe) = self.pipe.take() {
            pipe.close(operator.client(), at.since(self.booted_at));
        }
    }
}
