// SPDX-License-Identifier: BSD-2-Clause
// The script of pages (report/web/src) in a small DOM:
//
//	node --test web.mjs		with READERS in the environment
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

const require = createRequire(resolve(process.env.READERS, 'web/package.json'))
const { parseHTML } = await import(pathToFileURL(require.resolve('linkedom')))
const web = fileURLToPath(new URL('../../report/web/src', import.meta.url))
const source = (name) => import(pathToFileURL(join(web, name)))
const order = await source('order.js')
const table = await source('table.js')
const rows = await source('rows.js')
const copy = await source('copy.js')
const theme = await source('theme.js')
const nav = await source('nav.js')
const pages = await source('pages.js')
const packed = await source('packed.js')
const picture = await source('picture.js')
const dom = await source('dom.js')
const tree = await source('tree.js')

const parse = (body) => parseHTML(`<!DOCTYPE html><html><body>${body}</body></html>`)

// linkedom has no tables of the DOM.
function tableOf(lines, head = '') {
  const { document } = parse(`<main><div class="scroll"><table><thead><tr>${head}</tr></thead>
    <tbody>${lines.map((l) => `<tr>${l}</tr>`).join('')}</tbody></table></div></main>`)
  const found = document.querySelector('table')
  const body = found.querySelector('tbody')
  for (const row of body.children) {
    Object.defineProperty(row, 'cells', { get: () => [...row.children] })
  }
  Object.defineProperty(body, 'rows', { get: () => [...body.children] })
  Object.defineProperty(found, 'tBodies', { get: () => [body] })
  document.defaultView.ResizeObserver = undefined
  return found
}
const column = (found, k) =>
  [...found.querySelector('tbody').children].map((row) => row.children[k].textContent)

test('texts of figures are numbers', () => {
  const same = [
    ['1,234,567', 1234567], ['0', 0], ['-12 B', -12], ['-2.5 KiB', -2560], ['≥ 1.0 MiB', 2 ** 20],
    ['0x10', 16], ['<0.1 %', 0.1e6], ['100 %', 100e6], ['1.5 s', 1.5], ['20 ms', 0.02],
    ['3 GiB', 3 * 2 ** 30], ['>99.9 %', 99.9e6], ['+5', 5],
  ]
  for (const [text, number] of same) assert.equal(order.numberOf(text), number, text)
  for (const text of ['', '?', 'abc', '12 apples', '1.2.3', '0x', 'B', '12 constructor', '-']) {
    assert(Number.isNaN(order.numberOf(text)), text)
  }
})

test('values are sorted as numbers, texts behind them, unknown ones last both ways', () => {
  const texts = ['x10', '9', '?', 'x9', '-1', '', '1,000', 'x9']
  const values = texts.map((t) => order.valueOf({ getAttribute: () => null, textContent: t }))
  const sorted = (down) => [...values].sort((a, b) => order.compareValues(a, b, down))
  assert.deepEqual(sorted(false), [-1, 9, 1000, 'x9', 'x9', 'x10', undefined, undefined])
  assert.deepEqual(sorted(true), [1000, 9, -1, 'x10', 'x9', 'x9', undefined, undefined])
})

test('what a cell says exactly counts, not its text', () => {
  const found = tableOf([
    '<td>b</td><td data-v="1048576">1.0 MiB</td>', '<td>a</td><td data-v="1048577">1.0 MiB</td>',
    '<td>e</td><td>?</td>', '<td>c</td><td>5 B</td>', '<td>d</td><td data-v="-3000">-2.9 KiB</td>'])
  const down = order.sortedRows(found.tBodies[0].rows, 1, true)
  assert.deepEqual(down.map((r) => r.children[0].textContent), ['a', 'b', 'c', 'd', 'e'])
  const up = order.sortedRows(found.tBodies[0].rows, 1, false)
  assert.deepEqual(up.map((r) => r.children[0].textContent), ['d', 'c', 'b', 'a', 'e'])
})

test('sorting is the same as a sort of random numbers', () => {
  let seed = 1
  const next = () => (seed = (seed * 48271) % 2147483647)
  for (let round = 0; round < 50; round++) {
    const numbers = Array.from({ length: 40 }, () => next() % 90)
    const found = tableOf(numbers.map((n, i) => `<td>${n}</td><td>${i}</td>`))
    const got = order.sortedRows(found.tBodies[0].rows, 0, false)
      .map((r) => [...r.children].map((c) => Number(c.textContent)))
    const expected = numbers.map((n, i) => [n, i]).sort((a, b) => a[0] - b[0] || a[1] - b[1])
    assert.deepEqual(got, expected)
  }
})

test('a header sorts down, up, and back', () => {
  const found = tableOf(['<td>b</td><td>2</td>', '<td>a</td><td>10</td>', '<td>c</td><td>1</td>'],
    '<th scope="col">name</th><th scope="col" class="n">n</th>')
  table.enhanceTables(found.ownerDocument)
  const [name, n] = found.querySelectorAll('th')
  const click = (th) => th.querySelector('button').click()
  click(n)
  assert.equal(n.getAttribute('aria-sort'), 'descending')
  assert.deepEqual(column(found, 1), ['10', '2', '1'])
  click(n)
  assert.equal(n.getAttribute('aria-sort'), 'ascending')
  assert.deepEqual(column(found, 1), ['1', '2', '10'])
  click(name)
  assert.equal(n.hasAttribute('aria-sort'), false)
  assert.deepEqual(column(found, 0), ['a', 'b', 'c'])
  click(name)
  click(name)
  assert.equal(name.hasAttribute('aria-sort'), false)
  assert.deepEqual(column(found, 0), ['b', 'a', 'c'])
})

test('a long table is filtered by all words of a text', () => {
  const names = ['struct a', 'struct b', 'std::map', 'STRUCT c <b>']
  const lines = Array.from({ length: 12 }, (_, i) => `<td>${names[i % 4].replace('<', '&lt;')}</td>`)
  const found = tableOf(lines, '<th scope="col">type</th>')
  table.enhanceTables(found.ownerDocument)
  const input = found.ownerDocument.querySelector('input.filter')
  const type = (text) => {
    input.value = text
    input.dispatchEvent(new (found.ownerDocument.defaultView.Event)('input'))
    return found.ownerDocument.querySelector('output').textContent
  }
  assert.equal(type('struct'), '9 of 12 rows')
  assert.equal(type('  <B> struct '), '3 of 12 rows')
  assert.equal(type('.*'), '0 of 12 rows')
  assert.equal(type(''), '')
  const short = tableOf(lines.slice(0, 11), '<th>type</th>')
  table.enhanceTables(short.ownerDocument)
  assert.equal(short.ownerDocument.querySelector('input'), null)
})

test('keys move through the rows and stop at the ends', () => {
  const found = tableOf(['<td><a href="#x">x</a></td>', '<td>y</td>'])
  const document = found.ownerDocument
  let active = null
  for (const element of found.querySelectorAll('a, tr')) element.focus = () => { active = element }
  Object.defineProperty(document, 'activeElement', { get: () => active })
  const all = [...found.tBodies[0].rows]
  assert(rows.moveRow(document, 1, all))
  assert.equal(active.localName, 'a')
  assert(rows.moveRow(document, 1, all))
  assert.equal(active, all[1])
  assert(!rows.moveRow(document, 1, all))
  assert(rows.moveRow(document, -1, all) && !rows.moveRow(document, -1, all))
  assert(!rows.moveRow(document, 1, []))
})

test('links of the navigation have different letters', () => {
  assert.deepEqual(nav.navLetters(['Types', 'Treemap', 'tt', 'Summary', '…', '1']),
    ['t', 'r', undefined, 's', undefined, '1'])
})

test('a page is found by its address, and by what is in it', () => {
  const { document } = parse(`<nav><a href="#a">A</a><a href="#b">B</a></nav>
    <main><section id="a"><h1>A</h1></section><section id="b"><p id="in">x</p></section></main>`)
  const id = (hash) => pages.pageOf(document, hash).id
  assert.deepEqual(['', '#', '#b', '#in', '#nothing', '#%', '#%62'].map(id),
    ['a', 'a', 'b', 'b', 'a', 'a', 'b'])
  pages.markCurrent(document, pages.pageOf(document, '#in'))
  assert.deepEqual([...document.querySelectorAll('nav a')].map((a) => a.getAttribute('aria-current')),
    [null, 'page'])
})

test('pages that are packed come into the document one by one, when they are asked for', async () => {
  const section = (id) => `<section id="${id}"><h1>${id}</h1></section>`
  const { document } = parse(`<main>${section('a')}<template class="packed" data-ids="b c">1</template>` +
    '<template class="packed" data-ids="d">2</template></main>')
  const texts = { 1: section('b') + section('c'), 2: 'nothing' }
  const asked = []
  const { show: unpack, find } = packed.packedPages(document, async (text) => {
    asked.push(text)
    return texts[text]
  })
  const ids = () => [...document.querySelectorAll('main > section')].map((s) => s.id)
  assert.equal(unpack('a'), null)
  assert.equal(unpack(''), null)
  assert.equal((await find('b')).id, 'b')
  assert.deepEqual([ids(), (await find('a')).id, await find('nowhere')], [['a'], 'a', null])
  await Promise.all([unpack('c'), unpack('c')])
  assert.deepEqual(ids(), ['a', 'c'])
  assert.equal(unpack('c'), null)
  await unpack('b')
  assert.deepEqual(ids(), ['a', 'c', 'b'])
  await unpack('d')
  assert.deepEqual([ids(), asked], [['a', 'c', 'b'], ['1', '2']])
})

test('levels of the tree open below their rows, and close', async () => {
  const head = (titles) => titles.map((t) => (t ? `<th scope="col">${t}</th>` : '<td></td>')).join('')
  const columns = ['retained', 'share', 'objects', '', 'type']
  const found = tableOf(['<td>9</td><td>90 %</td><td>3</td><td><a class="level" href="#b">server</a></td><td>S</td>',
    '<td>1</td><td>10 %</td><td>1</td><td>x</td><td>T</td>'], head(columns))
  const { document } = parse(`<table><thead><tr>${head(['retained', 'share', 'objects', 'members', '', 'type'])}</tr></thead>
    <tbody><tr><td>5</td><td>50 %</td><td>2</td><td>7</td><td><a class="level" href="#c">a</a></td><td>A</td></tr>
    <tr><td>4</td><td>40 %</td><td>1</td><td></td><td>b</td><td>B</td></tr></tbody></table>`)
  const asked = []
  tree.enhanceTree(found.ownerDocument.querySelector('main'), async (address) => {
    asked.push(address)
    return document
  })
  const texts = () => [...found.querySelectorAll('tbody tr')].map((r) => [...r.children].map((c) => c.textContent).join(','))
  const click = async (n) => {
    found.querySelectorAll('.open')[n].click()
    await new Promise((done) => setTimeout(done, 10))
  }
  await click(0)
  assert.deepEqual(texts(), ['9,90 %,3,server,S', '5,50 %,2,a,A', '4,40 %,1,b,B', '1,10 %,1,x,T'])
  assert.deepEqual([...found.querySelectorAll('.open')].map((b) => b.getAttribute('aria-expanded')), ['true', 'false'])
  await click(1)
  assert.equal(texts().length, 6)
  assert.equal(found.querySelectorAll('.i2').length, 2)
  await click(0)
  assert.deepEqual(texts(), ['9,90 %,3,server,S', '1,10 %,1,x,T'])
  assert.deepEqual(asked, ['#b', '#c'])
})

test('storage that throws is no storage', () => {
  const view = { get localStorage() { throw new Error('SecurityError') } }
  assert.equal(theme.storedTheme(view), 'system')
  assert.equal(theme.storedTheme({ localStorage: { getItem: () => 'evil' } }), 'system')
  assert.equal(theme.storedTheme({ localStorage: { getItem: () => 'dark' } }), 'dark')
})

test('the theme goes round and is kept', () => {
  const { document } = parse('<p>x</p>')
  const kept = {}
  Object.defineProperty(document.defaultView, 'localStorage', {
    value: { getItem: () => null, setItem: (k, v) => { kept[k] = v } }, configurable: true,
  })
  const button = theme.themeButton(document)
  const seen = []
  for (let i = 0; i < 3; i++) {
    button.click()
    seen.push(document.documentElement.getAttribute('data-theme'))
  }
  assert.deepEqual(seen, ['light', 'dark', null])
  assert.deepEqual(Object.values(kept), ['system'])
})

test('copying says when the browser does not let it', async () => {
  const { document } = parse('<ul class="commands"><li><code>a &lt;b&gt;</code></li></ul>')
  let got
  Object.defineProperty(document, 'defaultView', {
    value: { navigator: { clipboard: { writeText: async (t) => { got = t } } }, setTimeout: () => {} },
  })
  copy.enhanceCommands(document)
  document.querySelector('button').click()
  await new Promise((done) => setTimeout(done, 10))
  assert.equal(got, 'a <b>')
  assert.equal(document.querySelector('[role="status"]').textContent, 'copied')
  document.defaultView.navigator = {}
  assert.equal(await copy.copyText(document, 'x'), false)
})

test('texts of elements are no markup', () => {
  const { document } = parse('')
  const made = dom.element(document, 'p', { title: '"><i>' }, '<img src=x onerror=1>')
  assert.equal(made.children.length, 0)
  assert.equal(made.getAttribute('title'), '"><i>')
})

// A flame graph: depth, x, width.
const flame = [[0, 0, 100], [1, 0, 60], [1, 60, 40], [2, 0, 20], [2, 20, 40], [2, 60, 40]]
  .map(([depth, x, width]) => ({ depth, original: { x, width }, box: { x, width, y: depth * 10, height: 10 } }))

test('zooming fills the picture with a node and what is below it', () => {
  const at = picture.zoomed(flame, flame[1], 0, 100)
  assert.deepEqual(at.map((p) => p.width), [100, 100, 0, 20 / 0.6, 40 / 0.6, 0])
  assert.deepEqual([at[0].above, at[1].above], [true, undefined])
  assert.equal(at[4].x, 20 / 0.6)
  const last = picture.zoomed(flame, flame[5], 0, 100)
  assert.deepEqual(last.map((p) => p.width), [100, 0, 100, 0, 0, 100])
  assert.deepEqual(last.map((p) => p.above === true), [true, false, true, false, false, false])
})

test('arrows go to the neighbour in their direction', () => {
  const to = (from, key) => flame.indexOf(picture.nodeTowards(flame, flame[from], key))
  assert.equal(to(0, 'ArrowUp'), -1)
  assert.equal(to(0, 'ArrowDown'), 1)
  assert.equal(to(1, 'ArrowDown'), 3)
  assert.equal(to(1, 'ArrowRight'), 2)
  assert.equal(to(3, 'ArrowRight'), 4)
  assert.equal(to(5, 'ArrowLeft'), 4)
  assert.equal(to(5, 'ArrowUp'), 2)
})

// Bytes by path, from the innermost name to the outermost, of what frames have by themselves.
function ownPaths(nodes) {
  const own = nodes.map((n, i) => n.bytes - nodes.filter((c) => c.parent === i)
    .reduce((sum, c) => sum + c.bytes, 0))
  const paths = new Map()
  nodes.forEach((n, i) => {
    const names = []
    for (let k = i; k > 0; k = nodes[k].parent) names.push(nodes[k].name)
    for (let k = 0; own[i] > 0 && k <= names.length; k++) {
      const path = names.slice(0, k).join('/')
      paths.set(path, (paths.get(path) ?? 0) + own[i])
    }
  })
  return paths
}

function drawFlame(random) {
  const nodes = [{ name: 'all', parent: -1, depth: 0, bytes: 0 }]
  for (let i = 1; i < 40; i++) {
    const parent = random(nodes.length)
    nodes.push({ name: 'abcde'[random(5)], parent, depth: nodes[parent].depth + 1, bytes: 0 })
  }
  for (let i = 0; i < 60; i++) {
    const bytes = random(1000)
    for (let k = random(nodes.length); k >= 0; k = nodes[k].parent) nodes[k].bytes += bytes
  }
  return nodes.map((n) => ({ ...n, className: 'node' }))
}

test('an inverted flame graph has what frames cost by themselves, below it their callers', () => {
  let state = 7
  const random = (n) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return (state >>> 16) % n
  }
  for (let round = 0; round < 30; round++) {
    const nodes = drawFlame(random)
    const made = picture.inverted(nodes)
    const paths = new Map(made.map((n) => {
      const names = []
      for (let k = n; k.parent >= 0; k = made[k.parent]) names.unshift(k.from.name)
      assert.equal(names.length, n.depth)
      return [names.join('/'), n.bytes]
    }))
    assert.equal(paths.size, made.length)
    assert.deepEqual(new Map([...paths].sort()), new Map([...ownPaths(nodes)].sort()))
    const placed = picture.placedFrames(made, 1000)
    assert.equal(placed[0].width, 1000)
    for (const n of placed) {
      assert(n.bytes >= made[0].bytes / 1000)
      assert(Math.abs(n.width - n.bytes / made[0].bytes * 1000) < 1e-6)
      assert(n.x >= 0 && n.x + n.width < 1000 + 1e-6)
    }
  }
})

test('a button turns a flame graph round and back', () => {
  const node = (name, d, p, bytes, x, width, link) => `<a class="node m1 k1" ${link ? `href="#${link}"` : ''}
    data-d="${d}" data-b="${bytes}" data-p="${p}"><rect x="${x}" y="${d * 18}" width="${width}" height="18"
    fill="#f2b366"></rect><text>${name}</text><title>${name}\n${bytes}\napp</title></a>`
  const { document } = parse(`<main><figure class="picture flame" data-counts=""><svg viewBox="0 0 1000 78"
    aria-label="Flame">${node('all', 0, -1, 2000, 0, 1000, 'all')}${node('f', 1, 0, 1500, 0, 750, 'f')}
    ${node('g', 1, 0, 500, 750, 250, 'g')}${node('malloc', 2, 1, 1500, 0, 750, 'm1')}
    ${node('malloc', 2, 2, 500, 750, 250, 'm2')}<g class="legend"></g></svg><figcaption></figcaption></figure></main>`)
  picture.enhancePictures(document)
  const [first] = document.querySelectorAll('figure')
  first.querySelector('.invert').dispatchEvent(new document.defaultView.Event('click'))
  const [, turned] = document.querySelectorAll('figure')
  assert(first.hasAttribute('hidden') && !turned.hasAttribute('hidden'))
  assert.equal(turned.querySelector('svg').getAttribute('viewBox'), '0 0 1000 78')
  assert.deepEqual([...turned.querySelectorAll('.node')].map((n) => [n.getAttribute('aria-label'),
    n.querySelector('rect').getAttribute('width'), n.getAttribute('href')]), [
    ['all, 2,000 (100.0 %), app', '1000', '#all'], ['malloc, 2,000 (100.0 %), app', '1000', null],
    ['f, 1,500 (75.0 %), app', '750', '#f'], ['g, 500 (25.0 %), app', '250', '#g']])
  turned.querySelector('.invert').dispatchEvent(new document.defaultView.Event('click'))
  assert(!first.hasAttribute('hidden') && turned.hasAttribute('hidden'))
  assert.equal(document.querySelectorAll('figure').length, 2)
})

test('names fit their boxes', () => {
  assert.equal(picture.fittingName('abcdefgh', 1000), 'abcdefgh')
  assert.equal(picture.fittingName('abcdefgh', 6 + 6.6 * 5), 'abcd…')
  assert.equal(picture.fittingName('abcdefgh', 20), '')
  assert.equal(picture.fittingName('😀😀😀😀😀', 6 + 6.6 * 4), '😀😀😀…')
})

test('a picture has one stop of the tab key, and its search marks nodes', () => {
  const nodes = Array.from({ length: 9 }, (_, i) => `<a class="node k${i}" href="#${i}" data-d="0">
    <rect x="${i * 10}" y="0" width="10" height="10"></rect><text>${i === 4 ? 'nam…' : 'n'}</text>
    <title>name ${i}\n<b>5 B</b></title></a>`).join('')
  const { document } = parse(`<main><figure class="picture treemap"><svg>${nodes}</svg></figure></main>`)
  picture.enhancePictures(document)
  const all = [...document.querySelectorAll('.node')]
  assert.deepEqual(all.map((n) => n.getAttribute('tabindex')), ['0', ...Array(8).fill('-1')])
  assert.equal(document.querySelector('title'), null)
  assert.match(all[3].getAttribute('aria-label'), /^name 3, /)
  assert.match(all[4].getAttribute('aria-label'), /^nam…: name 4, /)
  const input = document.querySelector('input')
  input.value = 'NAME 7'
  input.dispatchEvent(new document.defaultView.Event('input'))
  assert.equal(document.querySelector('output').textContent, '1 found')
  assert(all[7].classList.contains('hit') && !all[6].classList.contains('hit'))
})

test('no script makes markup of data', () => {
  for (const name of readdirSync(web)) {
    const text = readFileSync(join(web, name), 'utf8')
    assert(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|setAttribute\('(style|on)/
      .test(text), name)
  }
})
