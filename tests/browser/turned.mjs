// SPDX-License-Identifier: BSD-2-Clause
// A flame graph of its own file, turned round: each leaf of the graph has its bytes at the
// top then, and turned twice it is as it was.
import { listen } from './chromium.mjs'

// The frames that are shown, as plain data.
function readFrames() {
  return [...document.querySelectorAll('.plot .f')].filter((f) => f.style.display !== 'none').map((f) => ({
    name: f.querySelector('title').textContent.split('\n')[0],
    y: Number.parseFloat(f.getAttribute('y')),
    x: Number(Number.parseFloat(f.getAttribute('x')).toFixed(6)),
    width: Number(Number.parseFloat(f.getAttribute('width')).toFixed(6)),
  }))
}

function pressInvert() {
  document.querySelector('foreignObject button').click()
}

// Widths that no frame below a frame has, by name.
function ownWidths(frames, row) {
  const own = new Map()
  for (const frame of frames) {
    const below = frames.filter((f) => f.y === frame.y + row && f.x > frame.x - 1e-3 &&
      f.x + f.width < frame.x + frame.width + 1e-3)
    const width = frame.width - below.reduce((sum, f) => sum + f.width, 0)
    own.set(frame.name, (own.get(frame.name) ?? 0) + width)
  }
  return own
}

export async function turnRound(browser, url) {
  const problems = []
  const page = await browser.newPage()
  await listen(page, { problem: (text) => problems.push(text), isOurs: (asked) => asked === url })
  await page.goto(url)
  const before = await page.evaluate(readFrames)
  await page.evaluate(pressInvert)
  const turned = await page.evaluate(readFrames)
  await page.evaluate(pressInvert)
  const again = await page.evaluate(readFrames)
  const row = before.find((f) => f.y > 0).y
  const own = ownWidths(before, row)
  const top = turned.filter((f) => f.y === row)
  for (const frame of top) {
    if (Math.abs(frame.width - own.get(frame.name)) > 0.05) {
      problems.push(`${frame.name} is ${frame.width} wide, not ${own.get(frame.name)}`)
    }
  }
  if (JSON.stringify(again) !== JSON.stringify(before)) problems.push('turned twice it is another picture')
  return { problems, frames: before.length, top: top.length }
}
