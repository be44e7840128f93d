/**
 * The thread that serves `/metrics` and `/health`. It makes and sends the pages. Requests therefore cost the pipeline's
 * thread only a copy of its counters per interval and a few health checks a second, however many arrive.
 */
import { readlinkSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { HealthReport } from '@int/collector';
import { GuardedServer, reply } from '@int/collector/http';
import { type Page, renderPage } from './page.js';
import type { Asked, FromPageThread, Health, PageSetup, PageTotals, ToPageThread } from './protocol.js';
import { NoAnswer, SharedAnswer } from './shared-answer.js';

/** The greatest age of a health answer, and the time that the pipeline has to give one. */
const HEALTH_FRESH_MS = 100;
const HEALTH_PATIENCE_MS = 2000;
/** The same for a page: Prometheus gives up after ten seconds, unless it is told otherwise. */
const PAGE_PATIENCE_MS = 8000;
const TOTALS_MS = 1000;

const port = parentPort!;
const { guard, host, port: listenPort, intervalMs, mostBytes } = workerData as PageSetup;
const tell = (message: FromPageThread): void => port.postMessage(message);
const ask = (asked: Asked) => (): void => tell({ name: 'ask', asked });

const page = new SharedAnswer<Page>(ask('page'), intervalMs, PAGE_PATIENCE_MS);
const health = new SharedAnswer<Health>(ask('health'), HEALTH_FRESH_MS, HEALTH_PATIENCE_MS);
const made = { pages: 0, pageBytes: 0, omitted: 0 };

const server = new GuardedServer(guard, answer);
const totals = (): PageTotals => ({ ...server.totals(), ...made });

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // The socket's buffer may hold requests of a client that has disconnected.
  if (request.socket.destroyed) return;
  const path = (request.url ?? '/').replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/\?.*$/s, '');
  if (path === '/metrics') await answerPage(response);
  else if (path === '/health') await answerHealth(response);
  else reply(response, 404, 'text/plain', 'There are /metrics and /health.\n');
}

async function answerPage(response: ServerResponse): Promise<void> {
  try {
    const { contentType, body } = await page.get();
    reply(response, 200, contentType, body);
  } catch (error) {
    // Prometheus sees a failed scrape; the pipeline continues.
    reply(response, error instanceof NoAnswer ? 503 : 500, 'text/plain', `${(error as Error).message}\n`);
  }
}

async function answerHealth(response: ServerResponse): Promise<void> {
  let state: Health;
  try {
    state = await health.get();
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const stalled = {
      where: 'collector',
      name: 'stalled',
      since: Date.now() - HEALTH_PATIENCE_MS,
      text: error.message,
    };
    state = { status: 'failing', healthy: false, degraded: [stalled] } satisfies HealthReport;
  }
  reply(response, state.healthy ? 200 : 503, 'application/json', `${JSON.stringify(state)}\n`);
}

port.on('message', (message: ToPageThread) => {
  switch (message.name) {
    case 'page': {
      const rendered = renderPage(message.content, mostBytes);
      made.pages++;
      made.pageBytes = rendered.body.length;
      made.omitted = rendered.omitted;
      page.settle(rendered);
      break;
    }
    case 'health':
      health.settle(message.health);
      break;
    case 'failed':
      (message.asked === 'page' ? page : health).fail(message.message);
      break;
    case 'close':
      void close();
  }
});

async function close(): Promise<void> {
  clearInterval(telling);
  await server.close();
  tell({ name: 'totals', totals: totals() });
  port.close();
}

let told = '';
const telling = setInterval(() => {
  const now = JSON.stringify(totals());
  if (now !== told) tell({ name: 'totals', totals: totals() });
  told = now;
}, TOTALS_MS);

/**
 * Lowers the priority of this thread, so that the pipeline comes first on a busy machine. Linux schedules each thread
 * like a process.
 */
function giveWay(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Another system, or no permission: both threads keep the same priority.
  }
}

async function listen(): Promise<void> {
  try {
    await server.listen({ host, port: listenPort });
    tell({ name: 'listening', ...server.address! });
  } catch (error) {
    clearInterval(telling);
    const { code = '', message } = error as NodeJS.ErrnoException;
    tell({ name: 'refused', code, message });
    port.close();
  }
}

giveWay();
void listen();
