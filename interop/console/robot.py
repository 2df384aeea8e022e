"""A robot whose server is the official library's: publishes a Catalyst sheet and a campaign's topics.

`robot.py PORT full|name|lies`   prints `ready`, takes what dashboards write to the operator inputs, and commits on Advance:
                                 `LastCommit` says what was read. Ends when its input ends.
"""

import math
import sys
import threading
import time

import ntcore

ROBOT = "/Catalyst/Robot/"
LAB = "/Catalyst/FieldLab/"
TUNING = "/Catalyst/Tuning/FieldLab/"

# A whole sheet: every group has a row, one zero is a measurement (WheelCof), and the name is not markup.
FULL = {
    "Identity/Name": "Ratchet & <b>Clank</b>",
    "Identity/TeamNumber": 1234,
    "Identity/Season": 2026,
    "Identity/Controller": "roboRIO 2",
    "Identity/RioSerial": "0316B37F",
    "Identity/RioComment": "practice robot",
    "Software/CatalystVersion": "1.12.0",
    "Software/CatalystGitSha": "a1b2c3d",
    "Software/CatalystGitDirty": False,
    "Software/CatalystCommitTime": "2026-11-01T12:00:00Z",
    "Software/RobotCodeVersion": "3.4",
    "Software/WPILibVersion": "2026.2.2",
    "Software/JavaVersion": "17.0.9",
    "Drivetrain/Type": "Swerve",
    "Drivetrain/MaxSpeedMps": 4.8,
    "Drivetrain/MaxAngularRateRadPerSec": 11.0,
    "Drivetrain/Modules": 4,
    "Drivetrain/ModuleLocations": [0.3, 0.25, 0.3, -0.25, -0.3, 0.25, -0.3, -0.25],
    "Drivetrain/TrackWidthMeters": 0.5,
    "Drivetrain/WheelBaseMeters": 0.6,
    "Drivetrain/OdometryHz": 250.0,
    "Drivetrain/CanFd": False,
    "Drivetrain/DriveGearRatio": 6.75,
    "Drivetrain/SteerGearRatio": 12.8,
    "Drivetrain/SlipCurrentAmps": 120.0,
    "Drivetrain/WheelRadiusMeters": 0.0508,
    "Drivetrain/WheelCof": 0.0,
    "Chassis/MassKg": 54.0,
    "Chassis/FrameLengthMeters": 0.7,
    "Chassis/FrameWidthMeters": 0.65,
    "Chassis/BumperThicknessMeters": 0.08,
    "Chassis/BumperLengthMeters": 0.86,
    "Chassis/BumperWidthMeters": 0.81,
    "Power/BrownoutVolts": 6.75,
    "Power/Battery": "MK ES17-12",
    "Power/Module": "REV PDH",
    "Power/Channels": 24,
    "Power/ChannelsInUse": ["0|front left drive", "1|front left steer", "7|shooter"],
    "Hardware/CanDevices": 3,
    "Hardware/Inventory": ["CANcoder|4", "Pigeon2|1", "TalonFX (Falcon 500)|8"],
    "Hardware/Devices": ["rio|1|TalonFX (Falcon 500)", "rio|9|Pigeon2", "canivore|4|CANcoder"],
    "Hardware/Gyro": "Pigeon2",
    "Hardware/GyroCanId": 9,
    "Hardware/Cameras": ["front", "back"],
    "Catalyst/InUse": ["Physics Core", "Sequence"],
    "Catalyst/PhysicsCore/Count": 1,
    "Catalyst/PhysicsCore/Names": ["BALANCED"],
    "Catalyst/Sequence/Count": 2,
    "Catalyst/Sequence/Names": ["Score", "Climb"],
}
# A robot that publishes what its sources said, whatever they said.
LIES = {
    "Identity/Name": "Pinocchio",
    "Identity/TeamNumber": 0,
    "Identity/RioSerial": "",
    "Identity/RioComment": "   ",
    "Drivetrain/MaxSpeedMps": math.nan,
    "Drivetrain/OdometryHz": math.inf,
    "Drivetrain/ModuleLocations": [0.3, math.nan],
    "Chassis/MassKg": math.nan,
    "Power/ChannelsInUse": [],
    "Hardware/Devices": ["no fields", "a|b"],
    "Hardware/Cameras": [""],
}
SHEETS = {"full": FULL, "name": {"Identity/Name": "Plain"}, "lies": LIES}

CAMPAIGN = {
    "State": "AWAITING_OPERATOR",
    "Session": "6aa1f940",
    "Campaign": "Field Day",
    "Procedure": "Straight run",
    "ProcedureIndex": 1,
    "ProcedureCount": 3,
    "Step": "Measure the taped length",
    "StepIndex": 2,
    "StepCount": 5,
    "Progress": 0.34,
    "ElapsedSeconds": 754.0,
    "RemainingSeconds": 1260.0,
    "BatteryVolts": 12.41,
    "Notes": ["paused at 11.92 V, below 12.00 V", "resumed at 12.52 V"],
    "Measurements": ["wheel-radius/tape|4.02"],
    "Prompt": "How far did it go by the tape?",
    "PromptUnit": "m",
}


def topic_of(inst, name, value):
    if isinstance(value, bool):
        return inst.getBooleanTopic(name)
    if isinstance(value, int):
        return inst.getIntegerTopic(name)
    if isinstance(value, float):
        return inst.getDoubleTopic(name)
    if isinstance(value, str):
        return inst.getStringTopic(name)
    if value and isinstance(value[0], float):
        return inst.getDoubleArrayTopic(name)
    return inst.getStringArrayTopic(name)


class Robot:
    def __init__(self, port, sheet):
        self.inst = ntcore.NetworkTableInstance.create()
        self.inst.startServer("", "127.0.0.1", 0, port)
        self.held = {}
        for key, value in SHEETS[sheet].items():
            self.put(ROBOT + key, value)
        for key, value in CAMPAIGN.items():
            self.put(LAB + key, value)
        self.inputs = {}
        for key in ("Value", "Advance"):
            entry = self.inst.getDoubleTopic(TUNING + key).getEntry(0.0)
            entry.set(0.0)
            self.inputs[key] = entry
        self.inst.flush()

    def put(self, name, value):
        if name not in self.held:
            self.held[name] = topic_of(self.inst, name, value).publish()
        self.held[name].set(value)

    def run(self):
        """The reference's own rule: a change of Advance commits what stands in Value."""
        before = self.inputs["Advance"].get()
        ticks = 0
        while True:
            time.sleep(0.02)
            ticks += 1
            now = self.inputs["Advance"].get()
            if now != before:
                before = now
                self.put(LAB + "Measurements", ["wheel-radius/tape|4.02", f"straight-run/tape|{self.inputs['Value'].get()}"])
                self.put(LAB + "State", "RUNNING")
                self.put(LAB + "Prompt", "")
            self.put(LAB + "ElapsedSeconds", 754.0 + ticks * 0.02)
            self.inst.flush()


def main():
    robot = Robot(int(sys.argv[1]), sys.argv[2])
    threading.Thread(target=robot.run, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


main()
