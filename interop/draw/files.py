"""Every file of `fieldlab draw`, read and written with numpy and the standard library only.

    files.py digest CONSTANTS_JSON            the short and the whole digest
    files.py resave IN.npz OUT.npz            numpy opens an archive and writes its arrays again
    files.py grid SURFACE.npz                 points and normals on a 37 x 41 grid that reaches 5 mm past the canvas
    files.py make FOLDER                      every file that the Rust reads: surfaces, captures, samples, constants, a rig, designs
    files.py samples PATH.csv                 what a samples file holds, and the checks of the loose reader
    files.py read FOLDER                      every other file that the Rust writes: capture and marker, sidecar, joint plan, report,
                                              ROS trajectories, mesh, pictures

Written from the published formats and not from the Rust.
"""

import hashlib
import json
import os
import re
import sys
import tomllib
import xml.etree.ElementTree as xml

import numpy as np

import motion_constants
import planner


def digest(path):
    with open(path) as file:
        document = json.load(file)
    kept = {key: value for key, value in document.items() if not key.startswith("_")}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    whole = hashlib.sha256(text.encode()).hexdigest()
    return {"sha": whole[:12], "full": whole}


def resave(source, target):
    with np.load(source, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    np.savez_compressed(target, **arrays)
    return {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}


def catmull(p, t):
    value = 0.5 * (2 * p[1] + (p[2] - p[0]) * t + (2 * p[0] - 5 * p[1] + 4 * p[2] - p[3]) * t**2
                   + (-p[0] + 3 * p[1] - 3 * p[2] + p[3]) * t**3)
    slope = 0.5 * ((p[2] - p[0]) + 2 * (2 * p[0] - 5 * p[1] + 4 * p[2] - p[3]) * t
                   + 3 * (-p[0] + 3 * p[1] - 3 * p[2] + p[3]) * t**2)
    return value, slope


class Surface:
    def __init__(self, path):
        with np.load(path, allow_pickle=False) as a:
            if str(a["schema"]) != "tatbot.surface/1":
                sys.exit("another schema")
            self.kind, self.center, self.rot = str(a["chart_kind"]), a["center"], a["rot"]
            self.radius, self.w, self.h, self.grid = float(a["radius_m"]), float(a["width_m"]), float(a["height_m"]), a["height"]

    def height(self, u, v):
        rows, cols = self.grid.shape
        gu = min(max((u + self.w / 2) / self.w * (cols - 1), 0), cols - 1)
        gv = min(max((v + self.h / 2) / self.h * (rows - 1), 0), rows - 1)
        i, j = int(np.floor(gu)), int(np.floor(gv))
        pick_c = np.clip(np.arange(i - 1, i + 3), 0, cols - 1)
        pick_r = np.clip(np.arange(j - 1, j + 3), 0, rows - 1)
        patch = self.grid[np.ix_(pick_r, pick_c)]
        along = [catmull(row, gu - i) for row in patch]
        value, by_v = catmull([a[0] for a in along], gv - j)
        by_u, _ = catmull([a[1] for a in along], gv - j)
        return value, by_u * (cols - 1) / self.w, by_v * (rows - 1) / self.h

    def frame(self, u, v):
        ex, ey, ez = self.rot.T
        h, hu, hv = self.height(u, v)
        if self.kind == "plane":
            p, pu, pv, n, nv = self.center + u * ex + v * ey, ex, ey, ez, np.zeros(3)
        else:
            r, angle = self.radius, v / self.radius
            s, c = np.sin(angle), np.cos(angle)
            p = self.center + u * ex + r * s * ey + (r * c - r) * ez
            pu, pv, n = ex, c * ey - s * ez, s * ey + c * ez
            nv = pv / r
        normal = np.cross(pu + hu * n, pv + hv * n + h * nv)
        normal /= max(np.linalg.norm(normal), 1e-12)
        return p + h * n, normal if normal @ n >= 0 else -normal


def grid(path):
    surface = Surface(path)
    points, normals = [], []
    for v in np.linspace(-surface.h / 2 - 0.005, surface.h / 2 + 0.005, 37):
        for u in np.linspace(-surface.w / 2 - 0.005, surface.w / 2 + 0.005, 41):
            p, n = surface.frame(u, v)
            points.append(p.tolist())
            normals.append(n.tolist())
    return {"points": points, "normals": normals}


def make(folder):
    w, h, rows, cols = 0.10, 0.12, 25, 21
    u, v = np.meshgrid(np.linspace(-w / 2, w / 2, cols), np.linspace(-h / 2, h / 2, rows))
    height = 0.004 * np.cos(np.pi * u / w) * np.cos(np.pi * v / h) + 0.0005 * np.sin(90 * u) * np.cos(70 * v)
    for kind, radius in (("plane", np.nan), ("cylinder", 0.04)):
        np.savez(
            os.path.join(folder, f"{kind}.npz"), schema=np.array("tatbot.surface/1"), chart_kind=np.array(kind),
            center=np.array([0.35, 0.1, 0.05]), rot=np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), radius_m=np.float64(radius),
            width_m=np.float64(w), height_m=np.float64(h), height=height, count=np.full((rows, cols), 5, np.int64),
            residual_m=np.zeros((rows, cols)), anchor_uv=np.full(2, np.nan), anchor_point=np.full(3, np.nan), anchor_shift_m=np.float64(0),
        )
    depth = np.full((480, 640), 1500, np.uint16)
    depth[10:20, 30:40] = 0
    np.savez_compressed(
        os.path.join(folder, "capture-1.npz"), camera_roles=np.array(json.dumps(["right_wrist"])), joints=np.linspace(0.1, 0.6, 6),
        carriage_m=np.float64(0.002), k=np.int64(1), t_wall=np.float64(1.7e9), depth_right_wrist=depth,
        valid_right_wrist=np.where(depth > 0, 8, 0).astype(np.uint8), units_m_right_wrist=np.float64(0.0001),
        intrinsics_right_wrist=np.array([385.0, 385, 320, 240, 640, 480]), color_right_wrist=np.zeros((4, 4, 3), np.uint8),
    )
    open(os.path.join(folder, "capture-1.done"), "w").close()
    np.save(os.path.join(folder, "fortran.npy"), np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    np.save(os.path.join(folder, "object.npy"), np.array([{}, 1], dtype=object), allow_pickle=True)
    np.save(os.path.join(folder, "big.npy"), np.arange(6, dtype=">f8"))
    header = [
        ("schema", "tatbot.draw-samples/1"), ("kind", "path"), ("frame", "right/base_link"), ("period_s", "0.0025"),
        ("constants_sha", motion_constants.SHA), ("sample_count", "40"), ("capture_count", "0"), ("start_tolerance_m", "0.001"),
    ]
    columns = "t_s,px,py,pz,vx,vy,vz,r00,r01,r02,r10,r11,r12,r20,r21,r22,pen,capture,dip"
    with open(os.path.join(folder, "path.csv"), "w") as out:
        out.write("".join(f"{key},{value}\n" for key, value in header) + f"columns,{columns}\n")
        for k in range(1, 41):
            row = [k * 0.0025, 0.4, 0.05, 0.05, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
            out.write(",".join("%.12g" % x for x in row) + ",0,0,0\n")
    constants(folder)
    capture(folder)
    made = rig(folder)
    designs(folder)
    return {"written": sorted(os.listdir(folder)), **made}


def constants(folder):
    """The constants' file from the values of the rendered module: the same digest must come of it."""
    nested = {"_doc": "written by numpy's peer", "schema": "tatbot.draw-constants/1"}
    for key, value in reversed(list(motion_constants.VALUES.items())):
        *path, last = key.split(".")
        at = nested
        for name in path:
            at = at.setdefault(name, {})
        at[last] = list(value) if isinstance(value, tuple) else value
    with open(os.path.join(folder, "motion_constants.json"), "w") as out:
        json.dump(nested, out, indent=1)


def capture(folder):
    """A capture of today's schema: raw frames, their median, a lens, and a marker that names the archive."""
    raw = np.random.default_rng(1).integers(1400, 1600, (5, 12, 16)).astype(np.uint16)
    raw[:2, 3, 4], raw[:, 5, 6], raw[4, 7, 8] = 0, 0, 65535
    seen = np.ma.masked_array(raw, (raw == 0) | (raw == 65535))
    middle = np.ma.median(seen, axis=0)
    path = os.path.join(folder, "capture-2.npz")
    np.savez_compressed(
        path, schema=np.array("tatbot.capture/1"), camera_roles=np.array(json.dumps(["eye"])), joints=np.zeros(6), carriage_m=np.float64(0),
        k=np.int64(2), t_wall=np.float64(1.7e9), depth_eye=np.clip(np.round(middle.filled(0)), 0, 65534).astype(np.uint16),
        valid_eye=seen.count(axis=0).astype(np.uint8), raw_depth_eye=raw, frames_eye=np.int64(5), units_m_eye=np.float64(0.0001),
        intrinsics_eye=np.array([385.0, 385, 8, 6, 16, 12]), distortion_eye=np.array([-0.05, 0.06, 0.0003, 0.0008, -0.02]),
        temporal_mad_m_eye=(np.ma.median(np.abs(seen - middle), axis=0).filled(0) * 1e-4).astype(np.float32),
    )
    with open(path, "rb") as archive, open(os.path.join(folder, "capture-2.done"), "w") as marker:
        marker.write(hashlib.sha256(archive.read()).hexdigest() + "\n")


def rig(folder):
    """A made-up arm: description, profile, datasheet, palette; and where its tip is by the peer's own kinematics."""
    axes, origins = ["0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0"], ["0 0 .1", "0.03 0 .2", "0 0 .3", ".05 0 0", ".25 0 0", ".07 0 0.01"]
    links = ["py/base_link"] + [f"py/l{k}" for k in range(1, 7)]
    text = '<robot name="python"><link name="root"/>' + "".join(f'<link name="{name}"/>' for name in links) + '<link name="py/mount"/>'
    text += '<joint name="py/stand" type="fixed"><parent link="root"/><child link="py/base_link"/><origin xyz="0.1 0.2 0" rpy="0 0 0.3"/></joint>'
    for k in range(6):
        text += (f'<joint name="py/j{k}" type="revolute"><parent link="{links[k]}"/><child link="{links[k + 1]}"/><origin xyz="{origins[k]}" '
                 f'rpy="0 0 {k * 0.1}"/><axis xyz="{axes[k]}"/><limit lower="-2.5" upper="2.5" velocity="3" effort="9"/></joint>')
    text += '<joint name="py/hold" type="fixed"><parent link="py/l6"/><child link="py/mount"/><origin xyz="0.02 0 0" rpy="0 1.5 0"/></joint></robot>'
    write = lambda name, content: open(os.path.join(folder, name), "w").write(content)
    write("arm.urdf", text)
    write("pen.toml", 'schema = "fieldlab.tool/1"\ntool_id = "pen"\nkind = "pen"\nsilhouette_m = [[0.0, 0.005], [0.08, 0.001]]\n')
    write("ink.toml", 'schema = "fieldlab.palette/1"\nsizes = [{ name = "s", diameter_m = 0.015, height_m = 0.014, wall_m = 0.0005 }]\n'
                      'caps = [{ name = "one", size = "s", floor_m = [0.01, 0.02, 0.0], fill_ul = 1000 }]\n')
    joints = "".join(f'  {{ name = "py/j{k}" }},\n' for k in range(6))
    write("profile.toml", f'schema = "fieldlab.rig/1"\nname = "python"\narm_prefix = "py"\nurdf = "arm.urdf"\nfinal_link = "py/l6"\njoints = [\n{joints}]\n'
          '[base_in_root]\nroot_link = "root"\nxyz_m = [0.1, 0.2, 0.0]\nrpy_rad = [0.0, 0.0, 0.3]\n[tool]\ndatasheet = "pen.toml"\nmount_link = "py/mount"\n'
          '[palette]\nfile = "ink.toml"\nxyz_m = [0.3, 0.0, 0.0]\nrpy_rad = [0.0, 0.0, 0.0]\n[workspace]\nmin_m = [-2.0, -2.0, -1.0]\nmax_m = [2.0, 2.0, 2.0]\n')
    with open(os.path.join(folder, "profile.toml"), "rb") as file:
        tomllib.load(file)
    tip = planner.rpy(0, 1.5, 0) @ np.array([0, 0, 0.08]) + np.array([0.02, 0, 0])
    q = [0.3, 0.2, -0.4, 0.5, 0.6, -0.7]
    place, turn, _ = planner.Arm(os.path.join(folder, "arm.urdf"), "py/base_link", "py/l6", tip, "-").pose(q, 0.0)
    return {"joints": q, "tip": [place.tolist()], "turn": turn.tolist()}


def designs(folder):
    """The same two strokes twice: as SVG in half millimetres with y down and a transform, and as plain numbers."""
    with open(os.path.join(folder, "design.svg"), "w") as out:
        out.write('<svg xmlns="http://www.w3.org/2000/svg"><g transform="translate(10 -4) scale(2)"><path d="M0 0h5v-5z"/></g><polyline points="0,0 1,1"/></svg>')
    with open(os.path.join(folder, "design.csv"), "w") as out:
        out.write("# two strokes\n5,2\n10,2\n10,7\n5,2\n\n0,0\n0.5,-0.5\n")


def read(folder):
    at = lambda name: os.path.join(folder, name)
    load = lambda name: json.load(open(at(name)))
    out = {}

    # The marker names the archive, the archive says its schema, and the picture is the median of its frames.
    archive = open(at("capture-3.npz"), "rb").read()
    if open(at("capture-3.done")).read() != hashlib.sha256(archive).hexdigest() + "\n":
        sys.exit("the marker names another archive")
    with np.load(at("capture-3.npz"), allow_pickle=False) as a:
        if str(a["schema"]) != "tatbot.capture/1" or json.loads(str(a["camera_roles"])) != ["right_wrist"]:
            sys.exit("not our capture")
        raw, depth = a["raw_depth_right_wrist"], a["depth_right_wrist"]
        if raw.dtype != np.uint16 or not np.array_equal(np.round(np.median(raw, axis=0)), depth):
            sys.exit("the picture is not the median")
        out["capture"] = {"k": int(a["k"]), "frames": int(a["frames_right_wrist"]), "distortion": a["distortion_right_wrist"].tolist()}

    sidecar = load("surface.json")
    if sidecar["schema"] != "tatbot.surface/1" or list(sidecar) != sorted(sidecar):
        sys.exit("the sidecar")
    out["sidecar"] = {"rows": sidecar["rows"], "radius_m": sidecar["chart"]["radius_m"], "holes": sidecar["holes"]}

    # As the reference's consumer accepts a plan.
    plan = load("plan.json")
    positions = np.array(plan["positions"])
    if plan["schema"] != "tatbot.joint-plan/1" or plan["hardware_authority"] is not False or plan["constants_sha"] != motion_constants.SHA:
        sys.exit("the plan's head")
    if positions.shape != (plan["sample_count"], 7) or np.array(plan["velocities"]).shape != positions.shape or len(plan["pen"]) != len(positions):
        sys.exit("the plan's shape")
    out["plan"] = {"rows": len(positions), "last": positions[-1].tolist(), "period_s": plan["period_s"]}

    report = load("report.json")
    if report["schema"] != "fieldlab.draw-check/1" or report["hardware_authority"] is not False:
        sys.exit("the report")
    out["report"] = {"accepted": report["accepted"], "violations": report["violations"], "rows": report["sample_count"]}

    # trajectory_msgs/JointTrajectory: equal lengths, times that rise strictly, standing at the end; the same in both spellings.
    ros = load("ros.json")
    times = [p["time_from_start"]["sec"] * 10**9 + p["time_from_start"]["nanosec"] for p in ros["points"]]
    names = ros["joint_names"]
    if any(b <= a for a, b in zip(times, times[1:])) or times[0] <= 0:
        sys.exit("times do not rise")
    if any(len(p["positions"]) != len(names) or len(p["velocities"]) != len(names) for p in ros["points"]) or any(ros["points"][-1]["velocities"]):
        sys.exit("the points")
    yaml = open(at("ros.yaml")).read()
    lists = [json.loads(text) for text in re.findall(r"positions: (\[.*\])", yaml)]
    if lists != [p["positions"] for p in ros["points"]] or [json.loads(n) for n in re.findall(r"^- (\".*\")$", yaml, re.M)] != names:
        sys.exit("the two spellings differ")
    stamps = [int(s) * 10**9 + int(n) for s, n in re.findall(r"time_from_start: \{sec: (\d+), nanosec: (\d+)\}", yaml)]
    if stamps != times:
        sys.exit("the two spellings' times differ")
    out["ros"] = {"points": len(times), "joints": len(names), "last_ns": times[-1]}

    lines = [line.split() for line in open(at("mesh.obj"))]
    vertices = np.array([line[1:] for line in lines if line[0] == "v"], float)
    normals = np.array([line[1:] for line in lines if line[0] == "vn"], float)
    faces = np.array([[corner.split("//")[0] for corner in line[1:]] for line in lines if line[0] == "f"], int) - 1
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    if (np.einsum("ni,ni->n", np.cross(b - a, c - a), normals[faces[:, 0]]) <= 0).any():
        sys.exit("a triangle faces inwards")
    out["mesh"] = {"vertices": len(vertices), "faces": len(faces)}

    for name in ("path.svg", "height.svg"):
        if not xml.parse(at(name)).getroot().tag.endswith("svg"):
            sys.exit(name)
    return out


def samples(path):
    header = {}
    with open(path) as lines:
        for line in lines:
            key, value = line.rstrip("\n").split(",", 1)
            if key == "columns":
                columns = value.split(",")
                break
            header[key] = value
        rows = np.loadtxt(lines, delimiter=",", ndmin=2)
    if header["schema"] != "tatbot.draw-samples/1" or header["constants_sha"] != motion_constants.SHA:
        sys.exit("not a samples file of these constants")
    if int(header["sample_count"]) != len(rows) or len(columns) != rows.shape[1]:
        sys.exit("the header does not fit the rows")
    r = rows[:, 7:16].reshape(-1, 3, 3)
    gram = np.abs(np.einsum("nij,nik->njk", r, r) - np.eye(3)).max()
    return {"rows": len(rows), "pen_down": int(rows[:, 16].sum()), "gram": float(gram), "dips": int((rows[:, 18] > 0).sum()),
            "captures": int((rows[:, 17] > 0).sum()), "last": rows[-1, 1:4].tolist()}


if __name__ == "__main__":
    commands = {"digest": digest, "resave": resave, "grid": grid, "make": make, "samples": samples, "read": read}
    print(json.dumps(commands[sys.argv[1]](*sys.argv[2:])))
