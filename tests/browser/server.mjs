// SPDX-License-Identifier: BSD-2-Clause
// A server of pages: `heapinspect serve`, started and ended.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const PATIENCE_MS = 120000

// words: the program and its arguments. It says where its pages are in the first line that
// has a URL.
export async function startServer(words) {
  const child = spawn(words[0], words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const url = await new Promise((found, failed) => {
    const timer = setTimeout(() => failed(new Error(`no URL in: ${said}`)), PATIENCE_MS)
    const hear = (bytes) => {
      said += bytes
      const url = said.match(/https?:\/\/[^\s"'<>]+(?=\s)/)
      if (!url) return
      clearTimeout(timer)
      found(url[0])
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('exit', (code, signal) => failed(new Error(`${words.join(' ')}: ${code ?? signal}: ${said}`)))
    child.on('error', failed)
  }).catch((error) => {
    child.kill('SIGKILL')
    throw error
  })
  return {
    url,
    said: () => said,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 20000)
      const [code, signal] = await ended
      clearTimeout(timer)
      return signal ?? code
    },
  }
}
