"""The samples planner's law in numpy, written from the published law and not from the Rust.

    planner.py SAMPLES URDF BASE_LINK FINAL_LINK TIP_X TIP_Y TIP_Z CARRIAGE_JOINT|- J0 J1 J2 J3 J4 J5 CARRIAGE

Prints one JSON object: positions, tips, the largest model error, the elapsed planning seconds. The tip is in the final link at
carriage zero. Limits are not judged here: the conformance tests compare trajectories.
"""

import json
import sys
import time
import xml.etree.ElementTree as xml

import numpy as np

import motion_constants

C = motion_constants.VALUES


def rpy(roll, pitch, yaw):
    cr, sr, cp, sp, cy, sy = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return rz @ ry @ rx


def about(axis, angle):
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


class Arm:
    """The chain of turning joints between two links of a URDF, and the carriage beyond them."""

    def __init__(self, urdf, base, final, tip, carriage):
        joints = {}
        for node in xml.parse(urdf).getroot().findall("joint"):
            origin = node.find("origin")
            numbers = lambda key: [float(x) for x in origin.get(key, "0 0 0").split()] if origin is not None else [0, 0, 0]
            axis = node.find("axis")
            joints[node.find("child").get("link")] = {
                "name": node.get("name"),
                "type": node.get("type"),
                "parent": node.find("parent").get("link"),
                "p": np.array(numbers("xyz"), float),
                "r": rpy(*numbers("rpy")),
                "axis": np.array([float(x) for x in axis.get("xyz").split()]) if axis is not None else np.array([1.0, 0, 0]),
            }
        self.chain, link = [], final
        while link != base:
            self.chain.insert(0, joints[link])
            link = joints[link]["parent"]
        self.tip = np.array(tip, float)
        slide = next((j for j in joints.values() if j["name"] == carriage), None)
        self.slide = slide["r"] @ slide["axis"] if slide else np.zeros(3)

    def pose(self, q, c):
        p, r, origins, axes, at = np.zeros(3), np.eye(3), [], [], 0
        for joint in self.chain:
            p = p + r @ joint["p"]
            r = r @ joint["r"]
            if joint["type"] == "revolute":
                origins.append(p)
                axes.append(r @ joint["axis"])
                r = r @ about(joint["axis"], q[at])
                at += 1
        tip = p + r @ (self.tip + c * self.slide)
        jacobian = np.zeros((6, 7))
        for i, (o, a) in enumerate(zip(origins, axes)):
            jacobian[:3, i] = np.cross(a, tip - o)
            jacobian[3:, i] = a
        jacobian[:3, 6] = r @ self.slide
        return tip, r, jacobian


def error(a, b):
    return 0.5 * sum(np.cross(a[:, i], b[:, i]) for i in range(3))


def read(path):
    header, rows = {}, []
    with open(path) as lines:
        for line in lines:
            fields = line.rstrip("\r\n").split(",")
            if fields[0] == "columns":
                break
            header[fields[0]] = fields[1]
        rows = np.loadtxt(lines, delimiter=",", ndmin=2)
    return header, rows


def plan(arm, header, rows, q, c):
    period = C["period_s"]
    p, v = rows[:, 1:4], rows[:, 4:7]
    r = rows[:, 7:16].reshape(-1, 3, 3)
    pen = rows[:, 16] == 1
    carriage_ik = header.get("carriage_ik", "1") == "1" and np.any(arm.slide)
    damping = C["planner.dls_damping"] ** 2 * np.eye(6)
    w_inv = np.diag([1.0] * 6 + [1.0 / C["planner.carriage_dls_weight"] ** 2])
    rate = C["planner.max_carriage_acceleration_m_s2"] * period
    q, c, slid = np.array(q, float), float(c), 0.0
    positions, tips, worst = [], [], 0.0
    tip, rot, jac = arm.pose(q, c)
    for k in range(len(rows)):
        turning = error(r[k], r[k + 1]) / period if k + 1 < len(rows) else np.zeros(3)
        twist = np.concatenate([
            v[k] + C["planner.position_error_gain_s"] * (p[k] - tip),
            turning + C["planner.orientation_error_gain_s"] * error(rot, r[k]),
        ])
        six = lambda x: jac[:, :6].T @ np.linalg.solve(jac[:, :6] @ jac[:, :6].T + damping, x)
        if pen[k] and carriage_ik:
            normal = jac @ w_inv @ jac.T + damping
            inverse = lambda x: w_inv @ jac.T @ np.linalg.solve(normal, x)
            centre = C["planner.carriage_center_gain_s"] * (C["carriage_ik.bias_m"] - c)
            qd = inverse(twist) - inverse(jac[:, 6] * centre)
            qd[6] += centre
            most = 0.9 * C["planner.max_carriage_velocity_m_s"]
            slewed = min(max(qd[6], -most), most)
            slewed = min(max(slewed, slid - 0.9 * rate), slid + 0.9 * rate)
            if slewed != qd[6]:
                qd = np.append(six(twist - jac[:, 6] * slewed), slewed)
        else:
            held = slid - min(max(slid, -0.5 * rate), 0.5 * rate)
            qd = np.append(six(twist - jac[:, 6] * held), held)
        q, c, slid = q + period * qd[:6], c + period * qd[6], qd[6]
        tip, rot, jac = arm.pose(q, c)
        positions.append([*q, c])
        tips.append(tip)
        worst = max(worst, float(np.linalg.norm(p[k] - tip)))
    return np.array(positions), np.array(tips), worst


def main(words):
    samples, urdf, base, final = words[:4]
    arm = Arm(urdf, base, final, [float(x) for x in words[4:7]], words[7])
    numbers = [float(x) for x in words[8:15]]
    header, rows = read(samples)
    if header.get("constants_sha") != motion_constants.SHA:
        sys.exit("the samples were made with other constants")
    began = time.perf_counter()
    positions, tips, worst = plan(arm, header, rows, numbers[:6], numbers[6])
    seconds = time.perf_counter() - began
    print(json.dumps({
        "rows": len(rows), "seconds": seconds, "max_model_error_m": worst,
        "positions": positions.tolist(), "tips": tips.tolist(),
    }))


if __name__ == "__main__":
    main(sys.argv[1:])
