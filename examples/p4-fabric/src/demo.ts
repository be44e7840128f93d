// The demonstration that `npm start` shows: the fabric's reports, and `int collect` that takes them over a real socket and serves
// its page. Arguments go to `int collect`.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Incident } from './fabric/incidents.js';
import { readOptions } from './fabric/options.js';
import { runFabric } from './fabric/run.js';

/** Packets of hosts a second, each of which makes a report. A core makes a little more. */
const RATE = 20_000;
/** Without a terminal nobody can stop it: it ends by itself, after ten seconds' packets, or as many as a test wants. */
const UNATTENDED_PACKETS = Number(process.env.INT_DEMO_PACKETS ?? 200_000);

/** Of the page, if it is free; else one of the next. */
const PAGE_PORT = 8800;
const PAGE_PORTS = 10;

/** A port that nobody listens on. A terminal's view does not tell the port that the system has chosen. */
async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

/** The first port from the usual one on that nobody listens on. */
async function pagePort(): Promise<number> {
  for (let port = PAGE_PORT; port < PAGE_PORT + PAGE_PORTS; port++) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    server.close();
    if (isFree) return port;
  }
  return 0;
}

/** Tells the page what happens. It may not be there yet, or no more. */
async function note(page: number, incident: Incident): Promise<void> {
  const body = JSON.stringify(incident);
  const headers = { 'content-type': 'application/json' };
  await fetch(`http://127.0.0.1:${page}/api/v1/annotations`, { method: 'POST', headers, body }).catch(() => {});
}

const port = await freePort();
const cli = dirname(fileURLToPath(import.meta.resolve('@int/cli/package.json')));
const given = process.argv.slice(2);
// A choice of one's own replaces the usual address.
const isChosen = given.some((argument) => /^--(?:dashboard|config)(?:=|$)/.test(argument));
const pageAt = isChosen ? 0 : await pagePort();
const page = isChosen ? [] : ['--dashboard', `127.0.0.1:${pageAt}`];
const beside = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
// What the switches are like; a choice of one's own replaces it.
const isDescribed = given.some((argument) => /^--(?:device|unit|topology|config)(?:=|$)/.test(argument));
const described = isDescribed ? [] : ['--device', beside('demo-device.yaml')];
const from = ['--listen', `udp://127.0.0.1:${port}`, '--rules', beside('demo-rules.yaml')];
const collector = spawn(
  process.execPath,
  [join(cli, 'bin', 'int.js'), 'collect', ...from, ...described, ...page, ...given],
  // Its view takes keys.
  { stdio: 'inherit' },
);
const stopping = new AbortController();
// Ctrl-C reaches the collector too, which prints its totals.
process.on('SIGINT', () => stopping.abort());
process.on('SIGTERM', () => {
  stopping.abort();
  collector.kill('SIGTERM');
});
collector.on('exit', (code) => {
  process.exitCode = code ?? 0;
  stopping.abort();
});

// By the time the switches' programs are compiled, it listens.
const options = readOptions([
  ...['--collector', `127.0.0.1:${port}`, '--rate', String(RATE)],
  ...(process.stdout.isTTY ? ['--seconds', '0'] : ['--packets', String(UNATTENDED_PACKETS)]),
]);
if (typeof options !== 'string') await runFabric(options, stopping.signal, (incident) => void note(pageAt, incident));
// A second interrupt would end it without its totals.
if (!stopping.signal.aborted) collector.kill('SIGINT');
