// SPDX-License-Identifier: BSD-2-Clause
// Functions that run inside a page, as Chromium has built it. They use nothing from
// outside, and return plain data.

// Where the page leads, and what of it must not be in any page of heapinspect.
export function inspectDocument() {
  const problems = []
  const text = (e) => e.outerHTML.slice(0, 120)
  const decode = (escaped) => {
    try {
      return decodeURIComponent(escaped)
    } catch {
      return escaped
    }
  }
  const links = [...document.querySelectorAll('a, area')].flatMap((a) => {
    const raw = a.getAttribute('href') ?? a.getAttribute('xlink:href')
    if (raw === null) return []
    const name = a.textContent.trim() || a.getAttribute('aria-label') || ''
    return [{ raw, url: new URL(raw, document.baseURI).href, name: name.slice(0, 80) }]
  })
  for (const { raw, url, name } of links) {
    if (!/^(https?|file):/.test(url)) problems.push(`a link to ${raw.slice(0, 80)}`)
    if (!name) problems.push(`a link without a name, to ${raw.slice(0, 80)}`)
  }

  const seen = new Set()
  for (const { id } of document.querySelectorAll('[id]')) {
    if (seen.has(id)) problems.push(`two elements have the id ${id.slice(0, 80)}`)
    seen.add(id)
  }
  // Pages of a file that the script puts into the document when they are opened.
  const packed = new Set([...document.querySelectorAll('template.packed')].flatMap((t) => t.dataset.ids.split(' ')))
  const here = location.href.split('#')[0]
  for (const { url, raw } of links) {
    const [base, hash] = url.split('#')
    if (hash === undefined || hash === '' || base !== here) continue
    const id = decode(hash)
    if (!document.getElementById(id) && !packed.has(id) && !document.getElementsByName(id).length) {
      problems.push(`${raw.slice(0, 80)} leads to no element`)
    }
  }

  for (const e of document.querySelectorAll('*')) {
    for (const { name } of e.attributes) {
      if (/^on/i.test(name)) problems.push(`a handler ${name} in ${text(e)}`)
    }
  }
  for (const e of document.querySelectorAll('iframe, frame, object, embed, applet, base, meta[http-equiv=refresh i]')) {
    problems.push(`an element ${text(e)}`)
  }
  for (const e of document.querySelectorAll('[src], [action], [formaction], [data], image, use, link[href]')) {
    const raw = e.getAttribute('src') ?? e.getAttribute('action') ?? e.getAttribute('formaction') ??
      e.getAttribute('data') ?? e.getAttribute('href') ?? e.getAttribute('xlink:href') ?? ''
    const url = new URL(raw, document.baseURI)
    const isHere = url.protocol === location.protocol && url.host === location.host
    const isPicture = url.protocol === 'data:' && /^(img|image|link)$/i.test(e.localName)
    if (!isHere && !isPicture) problems.push(`from elsewhere: ${text(e)}`)
  }

  // What a name can bring along: characters that turn the order of a text, that are not
  // seen, or that control a terminal.
  const shown = document.documentElement.textContent
  const unseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/
  const at = shown.search(unseen)
  if (at >= 0) {
    const code = shown.charCodeAt(at).toString(16)
    problems.push(`a character U+${code} in "${shown.slice(Math.max(0, at - 30), at)}"`)
  }
  if ('__pwned' in window) problems.push(`window.__pwned is ${String(window.__pwned)}`)

  if (!document.title.trim()) problems.push('no title')
  if (!document.documentElement.lang) problems.push('no language')
  if (document.querySelectorAll('main').length !== 1) problems.push('not one main')
  const [timing] = performance.getEntriesByType('navigation')
  return {
    title: document.title,
    heading: document.querySelector('h1')?.textContent.trim() ?? '',
    pages: [...document.querySelectorAll('nav a')].map((a) => a.href),
    links,
    problems,
    elements: document.querySelectorAll('*').length,
    wait: timing ? timing.responseStart - timing.requestStart : 0,
    bytes: timing?.encodedBodySize ?? 0,
  }
}

// Is the page there that the address names? A file has to unpack it.
export function isOpened() {
  const id = decodeURIComponent(location.hash.slice(1))
  return !id || document.querySelector('main > section.shown')?.id === id
}

// One file has all of its pages: of another one than the first is looked at what differs.
export function inspectShown() {
  const problems = []
  const id = location.hash.slice(1)
  const target = document.getElementById(id) ?? document.getElementById(decodeURIComponent(id))
  const shown = [...document.querySelectorAll('main > section')].filter((s) => s.getClientRects().length)
  if (!target) problems.push('the address names no element')
  else if (!target.getClientRects().length) problems.push('what the address names is not shown')
  if (shown.length !== 1) problems.push(`${shown.length} pages are shown at a time`)
  if ('__pwned' in window) problems.push(`window.__pwned is ${String(window.__pwned)}`)
  return { title: document.title, links: [], pages: [], problems, elements: 0, wait: 0, bytes: 0 }
}

// Is the page wider than the window? Tables and pictures may scroll in themselves.
export function findOverflow() {
  const root = document.documentElement
  if (root.scrollWidth <= root.clientWidth + 1) return []
  const wide = [...document.querySelectorAll('body *')].filter((e) => {
    for (let up = e.parentElement; up; up = up.parentElement) {
      if (/auto|scroll|hidden/.test(getComputedStyle(up).overflowX)) return false
    }
    return e.getBoundingClientRect().right > root.clientWidth + 1
  })
  return [`${root.scrollWidth} px wide of ${root.clientWidth}: ` +
    wide.slice(0, 3).map((e) => e.outerHTML.slice(0, 80)).join(' ')]
}

// What somebody reads: words that are visible, and how many links.
export function readVisible() {
  const visible = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility === 'visible'
  return {
    words: document.body.innerText.split(/\s+/).filter(Boolean),
    links: [...document.querySelectorAll('a[href]')].filter(visible).map((a) => a.getAttribute('href')),
  }
}

// By axe-core, which was put into the page; all of it, or what depends on colours.
export async function runAxe(all) {
  const { violations } = await window.axe.run(document, {
    runOnly: all
      ? { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }
      : { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
    // What stands in a box of a picture is cut to its width; its name is whole.
    rules: all ? { 'label-content-name-mismatch': { enabled: false } } : {},
    resultTypes: ['violations'],
    preload: false,
  })
  return violations.map(({ id, impact, help, nodes }) =>
    `axe: ${id} (${impact}, ${nodes.length}): ${help}: ${nodes[0].html.slice(0, 120)}` +
    ` ${(nodes[0].any[0] ?? nodes[0].all[0] ?? nodes[0].none[0])?.message?.slice(0, 160) ?? ''}`)
}
