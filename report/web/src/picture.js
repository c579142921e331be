// SPDX-License-Identifier: BSD-2-Clause
// Pictures: a tip that follows focus and mouse, a search, arrow keys, and zoom into a flame
// graph. A node is <a class="node"> or <g class="node"> with a rect, a text and a title.
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
  svg.before(element(document, 'div', { class: 'tools' },
    element(document, 'label', {}, 'Search ', input), count))
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

function enhancePicture(figure) {
  const svg = figure.querySelector('svg')
  const nodes = [...figure.querySelectorAll('.node, .band, .name, .mark')].map(readNode)
    .filter((n) => n.shape)
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
  if (isFlame) addZoom(figure, nodes, nodeOf, tip)
}

export function enhancePictures(root) {
  for (const figure of root.querySelectorAll('figure.picture:not([data-ready])')) {
    figure.setAttribute('data-ready', '')
    enhancePicture(figure)
  }
}
