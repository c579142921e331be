#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reads heap profiles without any code of ours.

hp_oracle.py hp FILE.hp
    Holds FILE to the format's strict grammar, as its manual gives it, and prints
    "name TAB area" a band: trapezoids over time.
hp_oracle.py ps STEM
    Reads what hp2ps made of STEM.hp (STEM.ps, STEM.aux) and prints "name TAB area"
    a band: areas of the polygons, in the units of the axes.
"""
import re
import sys

TIME = r"(\d+\.\d+)"


def read_hp(path):
    """[(time, {label: value})]; fails at the first line that is not as it should be."""
    with open(path, encoding="utf-8", newline="\n") as file:
        text = file.read()
    assert text.endswith("\n"), "no newline at the end"
    lines = text.split("\n")[:-1]
    for word in ("JOB", "DATE", "SAMPLE_UNIT", "VALUE_UNIT"):
        line = lines.pop(0)
        assert re.fullmatch(word + r' "([^"]|"")*"', line), line
    samples = []
    sample = None
    for line in lines:
        assert len(line.encode()) < 5000, line
        begin = re.fullmatch("BEGIN_SAMPLE " + TIME, line)
        end = re.fullmatch("END_SAMPLE " + TIME, line)
        mark = re.fullmatch("MARK " + TIME, line)
        if sample is None:
            if mark:
                continue
            assert begin, line
            sample = (begin[1], {})
            assert not samples or float(begin[1]) >= samples[-1][0], line
        elif end:
            assert end[1] == sample[0], line
            samples.append((float(sample[0]), sample[1]))
            sample = None
        else:
            band = re.fullmatch(r'([^\s"][^\s"]*)\t(\d+)', line, re.ASCII)
            assert band and band[1] not in sample[1], line
            assert band[1] not in ("JOB", "DATE", "SAMPLE_UNIT", "VALUE_UNIT",
                                   "BEGIN_SAMPLE", "END_SAMPLE", "MARK"), line
            sample[1][band[1]] = int(band[2])
    assert sample is None, "the last sample has no end"
    return samples


def areas_of_hp(path):
    samples = read_hp(path)
    areas = {}
    for (t0, a), (t1, b) in zip(samples, samples[1:]):
        for name in a.keys() | b.keys():
            area = (a.get(name, 0) + b.get(name, 0)) / 2 * (t1 - t0)
            areas[name] = areas.get(name, 0) + area
    return areas


def polygon_area(points):
    total = 0
    for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
        total += x0 * y1 - x1 * y0
    return abs(total) / 2


def areas_of_ps(stem):
    with open(stem + ".ps", encoding="utf-8") as file:
        ps = file.read()
    with open(stem + ".aux", encoding="utf-8") as file:
        aux = file.read()
    ranges = {m[1]: float(m[2]) for m in re.finditer(r"^([XY])_RANGE (\S+)$", aux, re.M)}
    names = [m[1] for m in re.finditer(r"^ORDER (\S+) \d+$", aux, re.M)]
    number = r"-?\d+\.\d+"
    axes = re.findall(r"^45\.0+ 20\.0+ moveto\n(%s|0) (%s|0) rlineto" % (number, number),
                      ps, re.M)
    width = max(float(x) for x, _ in axes)
    height = max(float(y) for _, y in axes)
    scale = ranges["X"] / width * ranges["Y"] / height
    point = r"(?:%s %s (?:moveto|lineto)\n)" % (number, number)
    polygons = re.findall(r"^(%s{3,})closepath" % point, ps, re.M)
    assert len(polygons) == len(names), (len(polygons), len(names))
    areas = {}
    for name, polygon in zip(names, polygons):
        points = [(float(x), float(y)) for x, y in
                  re.findall(r"(%s) (%s) " % (number, number), polygon)]
        areas[name] = polygon_area(points) * scale
    return areas


def main():
    kind, path = sys.argv[1:]
    areas = areas_of_hp(path) if kind == "hp" else areas_of_ps(path)
    for name, area in areas.items():
        print("%s\t%.6f" % (name, area))


main()
