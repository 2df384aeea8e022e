"""Every file of `fieldlab draw`, read and written with numpy and the standard library only.

    files.py digest CONSTANTS_JSON            the short and the whole digest
    files.py resave IN.npz OUT.npz            numpy opens an archive and writes its arrays again
    files.py grid SURFACE.npz                 points and normals on a 37 x 41 grid that reaches 5 mm past the canvas
    files.py make FOLDER                      surfaces, a capture of an older tool, and a samples file, written by numpy
    files.py samples PATH.csv                 what a samples file holds, and the checks of the loose reader

Written from the published formats and not from the Rust.
"""

import hashlib
import json
import os
import sys

import numpy as np

import motion_constants


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
    return {"written": sorted(os.listdir(folder))}


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
    commands = {"digest": digest, "resave": resave, "grid": grid, "make": make, "samples": samples}
    print(json.dumps(commands[sys.argv[1]](*sys.argv[2:])))
