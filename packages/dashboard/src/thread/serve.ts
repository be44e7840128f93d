/**
 * The dashboard's thread: it has the retained reports, answers requests and feeds viewers. The pipeline's thread only adds up and
 * copies, however many look.
 */
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { Annotations } from '../annotations/annotations.js';
import { retentionRoutes } from '../answers/routes.js';
import { statusAnswer } from '../answers/status.js';
import { readPageFiles } from '../assets/page-files.js';
import { biographyRoutes } from '../biography/routes.js';
import { controlRoutes } from '../control/routes.js';
import { HistoryService } from '../history/routes.js';
import { NetworkView } from '../network/network-view.js';
import { OlderTimes } from '../older/older-times.js';
import { openApiRoute } from '../openapi/document.js';
import { Replays } from '../replay/routes.js';
import { headerOf, SIGNAL } from '../retention/geometry.js';
import { Retention } from '../retention/retention.js';
import { HELD_SLABS, Slab } from '../retention/slabs.js';
import { rulesRoutes } from '../rules/routes.js';
import { LiveServer } from '../server/live-server.js';
import { Routes, type Services, type View } from '../server/routes.js';
import { WebServer } from '../server/web-server.js';
import { Questions } from './ask.js';
import type { FromThread, PipelineState, ThreadSetup, ToThread } from './messages.js';

const TICK_MS = 250;
const TOTALS_MS = 1000;

const port = parentPort!;
const setup = workerData as ThreadSetup;
const { shared, isReadOnly, version } = setup;
const tell = (message: FromThread): void => port.postMessage(message);

const slabs = setup.slabs.map((memory) => new Slab(memory));
const { signals } = headerOf(shared);
const live: View = { retention: new Retention(shared, HELD_SLABS), network: new NetworkView() };
live.network.use(setup.network);
const questions = new Questions(tell);
let facts = setup.facts;
let { control } = setup;
let state: PipelineState | null = null;

const services: Services = {
  live,
  replays: new Map(),
  isReadOnly,
  get facts() {
    return facts;
  },
  get control() {
    return control;
  },
  status: () => ({
    ...statusAnswer({
      ...live,
      version,
      isReadOnly,
      control,
      facts,
      state,
      dashboard: { ...stream.counts(), viewers: stream.viewers, refused: web.totals() },
    }),
    annotations: annotations.newest,
  }),
  ask: (what, data) => questions.ask(what, data),
};

const annotations = new Annotations();
const history = new HistoryService(setup.file);
const older = new OlderTimes((of) => history.readerOf(of));
const replays = new Replays(
  (view) => stream.streamOf(view),
  (of) => history.readerOf(of),
);
const described = [
  ...retentionRoutes(older),
  ...biographyRoutes(older),
  ...rulesRoutes(),
  ...history.routes(),
  ...replays.routes(),
  ...annotations.routes(),
  ...controlRoutes(),
];
const routes = new Routes([...described, openApiRoute(described, version)]);
const web = new WebServer(setup.web, routes, services, readPageFiles(setup.page ?? undefined), (...taken) =>
  stream.take(...taken),
);
const stream = new LiveServer(services, (code) => web.count(code));

port.on('message', (message: ToThread) => {
  switch (message.name) {
    case 'slab': {
      const slab = slabs[message.note.slab]!;
      const part = live.retention.take(slab, message.note);
      live.network.learn(part.batch);
      stream.streamOf(live)?.take(part);
      return;
    }
    case 'state':
      state = message.state;
      return;
    case 'network':
      live.network.use(message.network);
      return;
    case 'facts':
      facts = message.facts;
      return;
    case 'control':
      control = message.control;
      stream.streamOf(live)?.takeControl(message.rows, message.missed);
      return;
    case 'answer':
    case 'failed':
      questions.settle(message);
      return;
    case 'close':
      void close();
  }
});

const ticking = setInterval(() => {
  live.retention.tick();
  Atomics.store(signals, SIGNAL.TAP, stream.isTapped ? 1 : 0);
}, TICK_MS);

let told = '';
const telling = setInterval(() => {
  const { framesSent, framesSkipped } = stream.counts();
  const totals = { viewers: stream.viewers, framesSent, framesSkipped, refused: web.totals() };
  const now = JSON.stringify(totals);
  if (now !== told) tell({ name: 'totals', totals });
  told = now;
}, TOTALS_MS);

async function close(): Promise<void> {
  clearInterval(ticking);
  clearInterval(telling);
  stream.close();
  replays.close();
  await history.close();
  await web.close();
  port.close();
}

/** Lowers the priority of this thread, so that the pipeline comes first on a busy machine. Linux schedules threads like processes. */
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
    tell({ name: 'listening', ...(await web.listen()) });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    tell({ name: 'refused', code, message });
    await close();
  }
}

giveWay();
void listen();
