// SPDX-License-Identifier: BSD-2-Clause
// Pictures: a tip that follows focus and mouse, a search, arrow keys, and a flame graph's zoom
// and inversion. A node is <a class="node"> or <g class="node"> with a rect, a text and a title.
import { element } from './dom.js'
import { matches } from './order.js'

const SVG = 'http://www.w3.org/2000/svg'
const CHARACTER = 6.6 // the usual width of one, in units of the picture

function numberAttribute(target, name) {
  return Number.parseFloat(target?.getAttribute(name)) || 0
}

function boxOf(shape) {
  if (!shape || shape.localName !== 'rect') {
    const box = shape?.getBBox?.()
    return box ? { x: box.x, y: box.y, width: box.width, height: box.height }
      : { x: 0, y: 0, width: 0, height: 0 }
  }
  const [x, y, width, height] =
    ['x', 'y', 'width', 'height'].map((name) => numberAttribute(shape, name))
  return { x, y, width, height }
}

export function readNode(node) {
  const title = node.querySelector('title')
  const shape = node.querySelector('rect, path, circle, text, line')
  const label = node.querySelector('text')
  const about = title?.textContent ?? label?.textContent ?? ''
  return {
    node, shape, label, about,
    name: about.split('\n')[0],
    depth: numberAttribute(node, 'data-d'),
    bytes: numberAttribute(node, 'data-b'),
    parent: node.hasAttribute('data-p') ? numberAttribute(node, 'data-p') : -1,
    box: boxOf(shape),
    labelX: numberAttribute(label, 'x'),
  }
}

// What is seen in a node, also a part of a name, is part of what is said of it.
function spokenName(n) {
  const label = n.label?.textContent ?? ''
  const about = n.about.replaceAll('\n', ', ')
  return about.includes(label) ? about : `${label}: ${about}`
}

const directions = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
}

const BESIDE = 1e4 // for a node that is not in the row or column of the one with the focus

// Of two boxes along an axis: how far the second one's middle is ahead, and how far its
// beginning is away.
function along(from, to, start, size) {
  return {
    ahead: to[start] + to[size] / 2 - from[start] - from[size] / 2,
    aside: Math.abs(to[start] - from[start]),
    overlaps: Math.min(from[start] + from[size], to[start] + to[size])
      - Math.max(from[start], to[start]) > 0.01,
  }
}

// The nearest node in the direction of an arrow, first of those in the same row or column.
export function nodeTowards(nodes, from, key) {
  const [dx, dy] = directions[key]
  let best
  let least = Infinity
  for (const to of nodes) {
    if (to === from || to.off) continue
    const x = along(from.box, to.box, 'x', 'width')
    const y = along(from.box, to.box, 'y', 'height')
    const ahead = dx ? dx * x.ahead : dy * y.ahead
    const across = dx ? y : x
    if (ahead <= 0.01) continue
    const distance = ahead + across.aside / 2 + (across.overlaps ? 0 : BESIDE)
    if (distance < least) {
      least = distance
      best = to
    }
  }
  return best
}

export function fittingName(name, width) {
  const most = Math.floor((width - 6) / CHARACTER)
  const characters = [...name]
  if (most < 3) return ''
  return characters.length <= most ? name : `${characters.slice(0, most - 1).join('')}…`
}

// Widths and places of all nodes when `at` fills the picture. What is above it is as wide
// as the picture; what is beside it has the width 0.
export function zoomed(nodes, at, left, width) {
  const scale = width / (at.original.width || 1)
  const middle = at.original.x + at.original.width / 2
  return nodes.map((n) => {
    const { x, width: w } = n.original
    const inside = x >= at.original.x - 0.01 && x + w <= at.original.x + at.original.width + 0.01
    if (inside && n.depth >= at.depth) {
      return { x: left + (x - at.original.x) * scale, width: w * scale }
    }
    const above = n.depth < at.depth && x <= middle && middle <= x + w
    return above ? { x: left, width, above: true } : { x, width: 0 }
  })
}

function applyZoom(nodes, at, left, width) {
  zoomed(nodes, at, left, width).forEach((place, i) => {
    const n = nodes[i]
    n.off = place.width === 0
    n.box = { ...n.box, ...place }
    if (n.off) n.node.setAttribute('display', 'none')
    else n.node.removeAttribute('display')
    n.node.classList.toggle('above', Boolean(place.above))
    n.shape.setAttribute('x', place.x)
    n.shape.setAttribute('width', place.width)
    if (n.label) {
      n.label.setAttribute('x', place.x + (n.labelX - n.original.x))
      n.label.textContent = fittingName(n.name, place.width)
    }
    n.node.setAttribute('aria-label', spokenName(n))
  })
}

function makeZoom(nodes) {
  for (const n of nodes) n.original = n.box
  const left = Math.min(...nodes.map((n) => n.box.x))
  const width = Math.max(...nodes.map((n) => n.box.x + n.box.width)) - left
  const labels = nodes.map((n) => n.label?.textContent)
  let present = null
  return (at) => {
    if (!at || at.original.width >= width - 0.01) {
      if (!present) return false
      present = null
      nodes.forEach((n, i) => {
        n.off = false
        n.box = n.original
        n.node.removeAttribute('display')
        n.node.classList.remove('above')
        n.shape.setAttribute('x', n.original.x)
        n.shape.setAttribute('width', n.original.width)
        n.label?.setAttribute('x', n.labelX)
        if (n.label) n.label.textContent = labels[i]
        n.node.setAttribute('aria-label', spokenName(n))
      })
      return true
    }
    present = at
    applyZoom(nodes, at, left, width)
    return true
  }
}

// A tip for the pictures of a document, which shows only text.
function makeTip(document) {
  const tip = element(document, 'div', { class: 'tip', 'aria-hidden': 'true', hidden: '' })
  document.body.append(tip)
  const show = (text, x, y) => {
    const view = document.defaultView
    tip.textContent = text
    tip.hidden = false
    const { width, height } = tip.getBoundingClientRect()
    const right = Math.max(4, Math.min(x + 14, view.innerWidth - width - 8))
    const below = y + 18 + height > view.innerHeight ? Math.max(4, y - height - 10) : y + 18
    tip.style.left = `${right}px`
    tip.style.top = `${below}px`
  }
  return { show, hide: () => { tip.hidden = true } }
}

let tipOfDocument = null

function followTip(figure, nodeOf, hint) {
  const document = figure.ownerDocument
  tipOfDocument ??= makeTip(document)
  const tip = tipOfDocument
  const text = (n) => (hint ? `${n.about}\n${hint}` : n.about)
  figure.addEventListener('mousemove', (event) => {
    const n = nodeOf(event.target)
    if (n) tip.show(text(n), event.clientX, event.clientY)
    else tip.hide()
  })
  figure.addEventListener('mouseleave', tip.hide)
  figure.addEventListener('focusin', (event) => {
    const n = nodeOf(event.target)
    if (!n || !n.node.matches(':focus-visible')) return
    const box = n.shape.getBoundingClientRect()
    tip.show(text(n), box.left, box.bottom - 14)
  })
  figure.addEventListener('focusout', tip.hide)
  return tip
}

// A frame around the node with the focus or the mouse, in front of all others.
function makeRing(figure, svg, nodeOf) {
  const ring = figure.ownerDocument.createElementNS(SVG, 'rect')
  ring.setAttribute('class', 'ring')
  const show = (event) => {
    const n = nodeOf(event.target)
    ring.remove()
    if (!n || n.shape.localName !== 'rect') return
    for (const name of ['x', 'y', 'width', 'height']) {
      ring.setAttribute(name, n.shape.getAttribute(name))
    }
    svg.append(ring)
  }
  for (const name of ['focusin', 'mouseover']) figure.addEventListener(name, show)
  for (const name of ['focusout', 'mouseleave', 'click']) {
    figure.addEventListener(name, () => ring.remove())
  }
}

export function searchNodes(svg, nodes, query) {
  svg.classList.toggle('looking', query !== '')
  let found = 0
  for (const n of nodes) {
    const hit = query !== '' && matches(n.name, query)
    n.node.classList.toggle('hit', hit)
    found += hit && !n.band
  }
  return found
}

// Search and buttons, above the picture.
function toolsOf(figure, svg) {
  const tools = figure.querySelector('.tools')
    ?? element(figure.ownerDocument, 'div', { class: 'tools' })
  svg.before(tools)
  return tools
}

function addSearch(figure, svg, nodes) {
  const document = figure.ownerDocument
  const count = element(document, 'output')
  const input = element(document, 'input', {
    type: 'search', autocomplete: 'off', spellcheck: 'false',
    on: {
      input: () => {
        const query = input.value.trim()
        const found = searchNodes(svg, nodes, query)
        count.textContent = query === '' ? '' : `${found} found`
      },
    },
  })
  toolsOf(figure, svg).append(element(document, 'label', {}, 'Search ', input), count)
}

// ---- a flame graph the other way round ----

// Innermost frames first: below each frame with bytes of its own is what called it, and frames
// of one name, colour and way are one. Parents come before children, in both.
export function inverted(nodes) {
  const own = nodes.map((n) => n.bytes)
  for (const n of nodes) if (n.parent >= 0) own[n.parent] -= n.bytes
  const made = []
  const add = (from, parent) => {
    made.push({ from, parent, bytes: 0, several: false, below: new Map(),
      depth: parent < 0 ? 0 : made[parent].depth + 1 })
    return made.length - 1
  }
  if (nodes.length) add(nodes[0], -1)
  nodes.forEach((n, i) => {
    if (own[i] <= 0) return
    made[0].bytes += own[i]
    let at = 0
    for (let k = i; k > 0; k = nodes[k].parent) {
      const { below } = made[at]
      const key = `${nodes[k].className} ${nodes[k].name}`
      if (!below.has(key)) below.set(key, add(nodes[k], at))
      at = below.get(key)
      made[at].several ||= made[at].from !== nodes[k]
      made[at].bytes += own[i]
    }
  })
  return made
}

const LEAST = 1 / 1000 // of the whole, to be drawn

// Places of inverted frames in a picture of this width: from the left, largest first.
export function placedFrames(made, width) {
  const whole = made[0]?.bytes || 1
  const placed = made.length ? [{ ...made[0], x: 0, width }] : []
  for (let i = 0; i < placed.length; i++) {
    let { x } = placed[i]
    const below = [...placed[i].below.values()].map((k) => made[k])
      .filter((n) => n.bytes >= whole * LEAST).sort((a, b) => b.bytes - a.bytes)
    for (const n of below) {
      placed.push({ ...n, x, width: n.bytes / whole * width })
      x += n.bytes / whole * width
    }
  }
  return placed
}

export function amountText(amount, isCount) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let n = amount
  let unit = 0
  if (isCount) return amount.toLocaleString('en')
  for (; n >= 1024 && unit < units.length - 1; unit++) n /= 1024
  return `${n.toFixed(unit ? 1 : 0)} ${units[unit]}`
}

function svgElement(document, name, attributes, ...children) {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

function drawFrame(document, frame, row, amount) {
  const { from } = frame
  const href = frame.several ? null : from.node.getAttribute('href')
  const place = { x: frame.x, y: frame.depth * row, width: frame.width, height: row }
  const attributes = { class: from.className, 'data-d': frame.depth, 'data-b': frame.bytes }
  const module = from.about.split('\n')[2]
  const node = svgElement(document, href ? 'a' : 'g', href ? { ...attributes, href } : attributes,
    svgElement(document, 'rect', { ...place, fill: from.shape.getAttribute('fill') }))
  const name = fittingName(from.name, frame.width)
  if (name) {
    node.append(svgElement(document, 'text', { x: frame.x + 3, y: frame.depth * row + 12 }, name))
  }
  node.append(svgElement(document, 'title', {},
    [from.name, amount, module].filter(Boolean).join('\n')))
  return node
}

// The figure of the same frames, inverted; the legend comes along.
function makeInverted(figure, svg, nodes) {
  const document = figure.ownerDocument
  const [, , width, height] = svg.getAttribute('viewBox').split(' ').map(Number)
  const row = nodes[0].box.height
  const frames = placedFrames(inverted(nodes), width)
  const bottom = (1 + frames.reduce((most, f) => Math.max(most, f.depth), 0)) * row
  const before = (1 + nodes.reduce((most, n) => Math.max(most, n.depth), 0)) * row
  const picture = svg.cloneNode(false)
  const isCount = figure.hasAttribute('data-counts')
  picture.setAttribute('viewBox', `0 0 ${width} ${bottom + height - before}`)
  picture.setAttribute('aria-label', `${svg.getAttribute('aria-label')}, inverted`)
  for (const frame of frames) {
    const percent = (frame.bytes * 100 / (frames[0].bytes || 1)).toFixed(1)
    picture.append(drawFrame(document, frame, row,
      `${amountText(frame.bytes, isCount)} (${percent} %)`))
  }
  const legend = svg.querySelector('.legend')?.cloneNode(true)
  if (legend) {
    legend.setAttribute('transform', `translate(0 ${bottom - before})`)
    picture.append(legend)
  }
  const made = figure.cloneNode(false)
  made.append(picture, element(document, 'figcaption', {}, 'Inverted: a frame is as wide as what '
    + 'it costs by itself; below it is what called it. Frames that the other picture leaves '
    + 'out count for their callers.'))
  figure.after(made)
  return made
}

function addInversion(figure, svg, nodes, other) {
  const document = figure.ownerDocument
  let turned = other
  const button = element(document, 'button', {
    type: 'button', class: 'invert', 'aria-pressed': other ? 'true' : 'false',
    on: {
      click: () => {
        if (!turned) {
          turned = makeInverted(figure, svg, nodes)
          enhancePicture(turned, figure)
        }
        figure.setAttribute('hidden', '')
        turned.removeAttribute('hidden')
        turned.querySelector('.invert').focus()
      },
    },
  }, 'Invert')
  toolsOf(figure, svg).append(button)
}

// One stop of the tab key for a picture; arrows move in it.
function makeRoving(figure, nodes, nodeOf) {
  const stop = (n) => {
    for (const other of nodes) other.node.setAttribute('tabindex', other === n ? '0' : '-1')
  }
  stop(nodes.find((n) => !n.off))
  figure.addEventListener('focusin', (event) => {
    const n = nodeOf(event.target)
    if (n) stop(n)
  })
  figure.addEventListener('keydown', (event) => {
    const n = nodeOf(event.target)
    if (!n || !Object.hasOwn(directions, event.key) || event.ctrlKey || event.altKey
      || event.metaKey) return
    event.preventDefault()
    nodeTowards(nodes, n, event.key)?.node.focus()
  })
}

function addZoom(figure, nodes, nodeOf, tip) {
  const zoom = makeZoom(nodes)
  figure.addEventListener('click', (event) => {
    const n = nodeOf(event.target)
    // With a modifier a link opens as links do; Enter is a click without a mouse.
    if (!n || event.ctrlKey || event.metaKey || event.shiftKey || event.detail === 0) return
    event.preventDefault()
    tip.hide()
    zoom(n)
  })
  figure.addEventListener('keydown', (event) => {
    const n = nodeOf(event.target)
    if (event.key === 'Escape' && zoom(null)) event.preventDefault()
    else if (n && (event.key === 'z' || event.key === ' ')) {
      event.preventDefault()
      zoom(n)
    }
  })
}

// The tip stands instead of the browser's. Where a node has no room for a name, what the
// title said stays in it.
function replaceTitle(n) {
  const title = n.node.querySelector('title')
  if (!title) return
  title.remove()
  if (n.label) return
  const description = n.node.ownerDocument.createElementNS(SVG, 'desc')
  description.textContent = n.about
  n.node.append(description)
}

// The names beside bands say what their bands say; keys go to the names.
function tellNames(nodes) {
  const bands = nodes.filter((n) => n.node.classList.contains('band'))
  const names = nodes.filter((n) => n.node.classList.contains('name'))
  names.forEach((n, i) => {
    if (!bands[i]) return
    n.about = bands[i].about
    n.name = bands[i].name
    n.band = bands[i]
    bands[i].off = true
    n.node.addEventListener('focus', () => bands[i].node.classList.add('here'))
    n.node.addEventListener('blur', () => bands[i].node.classList.remove('here'))
  })
}

// other: the picture that this one is an inversion of.
function enhancePicture(figure, other) {
  const svg = figure.querySelector('svg')
  const nodes = [...figure.querySelectorAll('.node, .band, .name, .mark')].map(readNode)
    .filter((n) => n.shape)
  for (const n of nodes) n.className = n.node.getAttribute('class')
  if (!svg || nodes.length === 0) return
  const byElement = new Map(nodes.map((n) => [n.node, n]))
  const nodeOf = (target) => byElement.get(target.closest?.('.node, .band, .name, .mark'))
  // What moves in it is no part of an image.
  svg.setAttribute('role', 'group')
  tellNames(nodes)
  for (const n of nodes) {
    replaceTitle(n)
    n.node.setAttribute('aria-label', spokenName(n))
    if (!n.node.hasAttribute('href')) n.node.setAttribute('role', 'img')
  }
  const isFlame = figure.classList.contains('flame')
  const tip = followTip(figure, nodeOf, isFlame ? 'Click or z: zoom. Enter: open.' : '')
  makeRoving(figure, nodes, nodeOf)
  makeRing(figure, svg, nodeOf)
  // Of an overview: the whole has a page of its own.
  const isSmall = ['donut', 'bars', 'small'].some((name) => figure.classList.contains(name))
  if (nodes.length > 8 && !isSmall) addSearch(figure, svg, nodes)
  if (!isFlame) return
  addZoom(figure, nodes, nodeOf, tip)
  if (nodes.length > 1) addInversion(figure, svg, nodes, other)
}

export function enhancePictures(root) {
  for (const figure of root.querySelectorAll('figure.picture:not([data-ready])')) {
    figure.setAttribute('data-ready', '')
    enhancePicture(figure)
  }
}
