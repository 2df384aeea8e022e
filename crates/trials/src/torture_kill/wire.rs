//! What goes over the pipes between the world and the robot's code: frames of `length, tag, payload`, little-endian.
//!
//! Numbers travel as their bits, so that NaN and every last digit arrive as they left.

use std::io::{self, Read, Write};

use anyhow::{Result, bail};
use fieldlab_base::Micros;
use fieldlab_robot::hw::{
    DriveCommand, GyroReading, Inputs, MechanismCommand, MechanismReading, ModuleReading, Outputs, Reading,
    VisionReading,
};
use fieldlab_values::Pose2d;

/// A NetworkTables message on its way.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NtFrame {
    /// JSON.
    Text(String),
    /// MessagePack.
    Binary(Vec<u8>),
}

/// One turn, as the world gives it to the code.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TickIn {
    /// The code's clock.
    pub(super) now: Micros,
    /// The wall clock.
    pub(super) unix: Micros,
    /// Whether the driver station enables.
    pub(super) enabled: bool,
    /// Whether Field Lab is selected.
    pub(super) selected: bool,
    /// Whether the dashboard is connected.
    pub(super) connected: bool,
    /// The sensors.
    pub(super) inputs: Inputs,
    /// What the dashboard sent.
    pub(super) up: Vec<NtFrame>,
}

/// One turn, as the code answers it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TickOut {
    /// What is asked of the hardware.
    pub(super) outputs: Outputs,
    /// What the dashboard is sent.
    pub(super) down: Vec<NtFrame>,
}

/// A step of the file system on the checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FilePhase {
    /// Making and writing the temporary file.
    Temp,
    /// Syncing it.
    Fsync,
    /// Giving it its name.
    Rename,
    /// Syncing the folder.
    Folder,
}

impl FilePhase {
    /// All of them, in the order of a save.
    pub(super) const ALL: [Self; 4] = [Self::Temp, Self::Fsync, Self::Rename, Self::Folder];

    const fn code(self) -> u8 {
        match self {
            Self::Temp => 0,
            Self::Fsync => 1,
            Self::Rename => 2,
            Self::Folder => 3,
        }
    }
}

/// Anything that the code says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FromChild {
    /// It is up.
    Ready,
    /// A turn is done.
    Turn(Box<TickOut>),
    /// It is about to take this step.
    Begins(FilePhase),
    /// It has taken it.
    Ends(FilePhase),
}

/// Writes one frame.
///
/// # Errors
/// A pipe whose other end is gone.
pub(super) fn write_frame(to: &mut impl Write, tag: u8, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len()).map_err(|_| io::Error::other("a frame above 4 GiB"))?;
    let mut frame = Vec::with_capacity(payload.len() + 5);
    frame.extend_from_slice(&length.to_le_bytes());
    frame.push(tag);
    frame.extend_from_slice(payload);
    to.write_all(&frame)?;
    to.flush()
}

/// Reads one frame.
///
/// # Errors
/// The end of the pipe, also inside a frame; a length that nothing here has.
pub(super) fn read_frame(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let [a, b, c, d, tag] = head;
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    if length > 64 << 20 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a frame of {length} bytes")));
    }
    let mut payload = vec![0; length];
    from.read_exact(&mut payload)?;
    Ok((tag, payload))
}

/// The tag of a [`TickIn`].
pub(super) const TICK: u8 = b'T';
const READY: u8 = b'R';
const TURN: u8 = b'A';
const BEGINS: u8 = b'B';
const ENDS: u8 = b'E';

impl FromChild {
    /// Writes it as a frame.
    ///
    /// # Errors
    /// A pipe whose other end is gone.
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Ready => write_frame(to, READY, &[]),
            Self::Turn(turn) => {
                let mut put = Put::default();
                put.outputs(&turn.outputs);
                put.frames(&turn.down);
                write_frame(to, TURN, &put.0)
            }
            Self::Begins(phase) => write_frame(to, BEGINS, &[phase.code()]),
            Self::Ends(phase) => write_frame(to, ENDS, &[phase.code()]),
        }
    }

    /// Reads one frame of a child.
    ///
    /// # Errors
    /// The end of the pipe, or a frame that no child writes.
    pub(super) fn read(from: &mut impl Read) -> Result<Self> {
        let (tag, payload) = read_frame(from)?;
        let phase = || {
            let code = payload.first().copied().unwrap_or(u8::MAX);
            FilePhase::ALL
                .into_iter()
                .find(|p| p.code() == code)
                .ok_or_else(|| anyhow::anyhow!("phase {code}"))
        };
        Ok(match tag {
            READY => Self::Ready,
            BEGINS => Self::Begins(phase()?),
            ENDS => Self::Ends(phase()?),
            TURN => {
                let mut take = Take(&payload);
                let outputs = take.outputs()?;
                let down = take.frames()?;
                Self::Turn(Box::new(TickOut { outputs, down }))
            }
            other => bail!("expected a frame of a child, found tag {other}"),
        })
    }
}

impl TickIn {
    /// The payload of its frame.
    #[must_use]
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut put = Put::default();
        put.int(self.now.0);
        put.int(self.unix.0);
        put.flags(&[self.enabled, self.selected, self.connected]);
        put.inputs(&self.inputs);
        put.frames(&self.up);
        put.0
    }

    /// Reads the payload of its frame.
    ///
    /// # Errors
    /// Bytes that end early.
    pub(super) fn decode(payload: &[u8]) -> Result<Self> {
        let mut take = Take(payload);
        let (now, unix) = (Micros(take.int()?), Micros(take.int()?));
        let flags = take.byte()?;
        Ok(Self {
            now,
            unix,
            enabled: flags & 1 != 0,
            selected: flags & 2 != 0,
            connected: flags & 4 != 0,
            inputs: take.inputs()?,
            up: take.frames()?,
        })
    }
}

#[derive(Default)]
struct Put(Vec<u8>);

impl Put {
    fn byte(&mut self, b: u8) {
        self.0.push(b);
    }

    fn int(&mut self, i: i64) {
        self.0.extend_from_slice(&i.to_le_bytes());
    }

    fn number(&mut self, n: f64) {
        self.0.extend_from_slice(&n.to_bits().to_le_bytes());
    }

    fn flags(&mut self, flags: &[bool]) {
        self.byte(flags.iter().enumerate().map(|(i, f)| u8::from(*f) << i).sum());
    }

    fn option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            put(self, value);
        }
    }

    fn reading<T: Copy>(&mut self, reading: &Option<Reading<T>>, put: impl FnOnce(&mut Self, T)) {
        self.option(*reading, |s, r| {
            s.int(r.at.0);
            put(s, r.value);
        });
    }

    fn pose(&mut self, pose: &Pose2d) {
        self.number(pose.translation.x_m);
        self.number(pose.translation.y_m);
        self.number(pose.rotation.angle_rad);
    }

    fn inputs(&mut self, inputs: &Inputs) {
        self.int(inputs.now.0);
        self.number(inputs.dt_secs);
        self.flags(&[inputs.enabled]);
        self.reading(&inputs.battery_volts, Self::number);
        self.reading(&inputs.gyro, |s, g| {
            s.number(g.yaw_rad);
            s.option(g.rate_rad_per_sec, Self::number);
        });
        for module in &inputs.modules {
            self.reading(module, |s, m: ModuleReading| {
                for number in [
                    m.angle_rad,
                    m.position_rad,
                    m.velocity_rad_per_sec,
                    m.applied_volts,
                    m.stator_amps,
                    m.temperature_c,
                ] {
                    s.option(number, Self::number);
                }
            });
        }
        self.reading(&inputs.vision, |s, v: VisionReading| {
            s.pose(&v.robot_in_field);
            s.byte(v.tags);
        });
        for mechanism in &inputs.mechanisms {
            self.reading(mechanism, |s, m: MechanismReading| {
                s.option(m.value, Self::number);
                s.flags(&[m.at_setpoint]);
                s.option(m.stator_amps, Self::number);
                s.option(m.temperature_c, Self::number);
            });
        }
    }

    fn outputs(&mut self, outputs: &Outputs) {
        match outputs.drive {
            DriveCommand::Neutral => self.byte(0),
            DriveCommand::Chassis { vx_mps, vy_mps, omega_rad_per_sec } => {
                self.byte(1);
                [vx_mps, vy_mps, omega_rad_per_sec].into_iter().for_each(|n| self.number(n));
            }
            DriveCommand::Volts { volts, angle_rad } => {
                self.byte(2);
                volts.into_iter().chain(angle_rad).for_each(|n| self.number(n));
            }
            DriveCommand::XLock => self.byte(3),
        }
        for mechanism in outputs.mechanisms {
            match mechanism {
                MechanismCommand::Neutral => self.byte(0),
                MechanismCommand::Setpoint(n) => {
                    self.byte(1);
                    self.number(n);
                }
                MechanismCommand::Volts(n) => {
                    self.byte(2);
                    self.number(n);
                }
            }
        }
    }

    fn frames(&mut self, frames: &[NtFrame]) {
        self.int(frames.len() as i64);
        for frame in frames {
            let (kind, bytes) = match frame {
                NtFrame::Text(text) => (0, text.as_bytes()),
                NtFrame::Binary(bytes) => (1, bytes.as_slice()),
            };
            self.byte(kind);
            self.int(bytes.len() as i64);
            self.0.extend_from_slice(bytes);
        }
    }
}

struct Take<'a>(&'a [u8]);

impl<'a> Take<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some((head, rest)) = self.0.split_at_checked(count) else {
            bail!("expected {count} bytes, found {}", self.0.len());
        };
        self.0 = rest;
        Ok(head)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.bytes(1)?[0])
    }

    fn int(&mut self) -> Result<i64> {
        let mut word = [0; 8];
        word.copy_from_slice(self.bytes(8)?);
        Ok(i64::from_le_bytes(word))
    }

    fn number(&mut self) -> Result<f64> {
        Ok(f64::from_bits(self.int()? as u64))
    }

    fn option<T>(&mut self, take: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.byte()? == 0 { Ok(None) } else { take(self).map(Some) }
    }

    fn reading<T>(&mut self, take: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<Reading<T>>> {
        self.option(|s| {
            let at = Micros(s.int()?);
            Ok(Reading::new(take(s)?, at))
        })
    }

    fn pose(&mut self) -> Result<Pose2d> {
        Ok(Pose2d::new(self.number()?, self.number()?, self.number()?))
    }

    fn inputs(&mut self) -> Result<Inputs> {
        let mut inputs = Inputs::NONE;
        inputs.now = Micros(self.int()?);
        inputs.dt_secs = self.number()?;
        inputs.enabled = self.byte()? != 0;
        inputs.battery_volts = self.reading(Self::number)?;
        inputs.gyro = self.reading(|s| {
            Ok(GyroReading { yaw_rad: s.number()?, rate_rad_per_sec: s.option(Self::number)? })
        })?;
        for module in &mut inputs.modules {
            *module = self.reading(|s| {
                Ok(ModuleReading {
                    angle_rad: s.option(Self::number)?,
                    position_rad: s.option(Self::number)?,
                    velocity_rad_per_sec: s.option(Self::number)?,
                    applied_volts: s.option(Self::number)?,
                    stator_amps: s.option(Self::number)?,
                    temperature_c: s.option(Self::number)?,
                })
            })?;
        }
        inputs.vision = self.reading(|s| Ok(VisionReading { robot_in_field: s.pose()?, tags: s.byte()? }))?;
        for mechanism in &mut inputs.mechanisms {
            *mechanism = self.reading(|s| {
                Ok(MechanismReading {
                    value: s.option(Self::number)?,
                    at_setpoint: s.byte()? != 0,
                    stator_amps: s.option(Self::number)?,
                    temperature_c: s.option(Self::number)?,
                })
            })?;
        }
        Ok(inputs)
    }

    fn outputs(&mut self) -> Result<Outputs> {
        let mut outputs = Outputs::NEUTRAL;
        outputs.drive = match self.byte()? {
            0 => DriveCommand::Neutral,
            1 => DriveCommand::Chassis {
                vx_mps: self.number()?,
                vy_mps: self.number()?,
                omega_rad_per_sec: self.number()?,
            },
            2 => {
                let (mut volts, mut angle_rad) = ([0.0; 4], [0.0; 4]);
                for number in volts.iter_mut().chain(&mut angle_rad) {
                    *number = self.number()?;
                }
                DriveCommand::Volts { volts, angle_rad }
            }
            3 => DriveCommand::XLock,
            other => bail!("expected a drive command, found {other}"),
        };
        for mechanism in &mut outputs.mechanisms {
            *mechanism = match self.byte()? {
                0 => MechanismCommand::Neutral,
                1 => MechanismCommand::Setpoint(self.number()?),
                2 => MechanismCommand::Volts(self.number()?),
                other => bail!("expected a mechanism command, found {other}"),
            };
        }
        Ok(outputs)
    }

    fn frames(&mut self) -> Result<Vec<NtFrame>> {
        let count = self.int()?;
        let mut frames = Vec::new();
        for _ in 0..count {
            let kind = self.byte()?;
            let length = usize::try_from(self.int()?)?;
            let bytes = self.bytes(length)?.to_vec();
            frames.push(match kind {
                0 => NtFrame::Text(String::from_utf8(bytes)?),
                1 => NtFrame::Binary(bytes),
                other => bail!("expected a message kind, found {other}"),
            });
        }
        Ok(frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Inputs {
        let mut inputs = Inputs { now: Micros(7), dt_secs: 0.02, enabled: true, ..Inputs::NONE };
        inputs.battery_volts = Some(Reading::new(12.5, Micros(6)));
        inputs.gyro = Some(Reading::new(GyroReading { yaw_rad: -1.0, rate_rad_per_sec: None }, Micros(5)));
        let module = ModuleReading { angle_rad: Some(0.1), stator_amps: Some(-3.0), ..Default::default() };
        inputs.modules[2] = Some(Reading::new(module, Micros(4)));
        let seen = VisionReading { robot_in_field: Pose2d::new(1.0, 2.0, 3.0), tags: 2 };
        inputs.vision = Some(Reading::new(seen, Micros(3)));
        let hood = MechanismReading { value: Some(42.0), at_setpoint: true, ..Default::default() };
        inputs.mechanisms[0] = Some(Reading::new(hood, Micros(2)));
        inputs
    }

    #[test]
    fn a_turn_arrives_as_it_left() {
        let tick = TickIn {
            now: Micros(1),
            unix: Micros(2),
            enabled: true,
            selected: false,
            connected: true,
            inputs: full(),
            up: vec![NtFrame::Text("[]".into()), NtFrame::Binary(vec![1, 2, 3])],
        };
        assert_eq!(TickIn::decode(&tick.encode()).unwrap(), tick);
        for cut in 0..tick.encode().len() {
            assert!(TickIn::decode(&tick.encode()[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn everything_a_child_says_arrives() {
        let mut outputs = Outputs { drive: DriveCommand::straight_volts(3.0, 0.5), ..Outputs::NEUTRAL };
        outputs.mechanisms[1] = MechanismCommand::Setpoint(1800.0);
        let turn = FromChild::Turn(Box::new(TickOut { outputs, down: vec![NtFrame::Binary(vec![9])] }));
        let said =
            [FromChild::Ready, FromChild::Begins(FilePhase::Fsync), FromChild::Ends(FilePhase::Folder), turn];
        let mut pipe = Vec::new();
        for word in &said {
            word.write(&mut pipe).unwrap();
        }
        let mut reader = pipe.as_slice();
        for word in &said {
            assert_eq!(&FromChild::read(&mut reader).unwrap(), word);
        }
        assert!(FromChild::read(&mut reader).is_err(), "the pipe is empty");
    }
}
