import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import {
  DashboardClient,
  type LiveHandler,
  type LiveState,
  type LiveStream,
  type Request,
  RequestError,
  type Status,
} from '../../client/index.js';
import { firstState } from './first-state.js';
import { at, replay } from './location.js';

export const client = new DashboardClient({ url: document.baseURI.replace(/[?#].*$/, '') });

/** The live stream of the network, or of the replay that is shown. */
const stream = signal<LiveStream | null>(null);
export const liveState = signal<LiveState>('connecting');
/** Connections that were opened: what came between two of them must be asked for. */
export const connections = signal(0);
export const status = signal<Status | null>(null);
/** Why there is no status. */
export const trouble = signal<string | null>(null);
/** Time of the newest telemetry that the page has heard of. */
export const newest = signal<number | null>(null);
/** That time when the page was stopped at a time; a chart does not show what came later. */
export const newestWhenStopped = signal<number | null>(null);

export const isLive: ReadonlySignal<boolean> = computed(() => at.value === null);

effect(() => {
  client.replay = replay.value;
  const live = client.live();
  stream.value = live;
  liveState.value = live.state;
  newest.value = null;
  const ends = live.onState((state) => {
    liveState.value = state;
    if (state === 'open') connections.value++;
  });
  live.subscribe({ type: 'status' }, (message) => {
    if (message.type !== 'status') return;
    takeStatus(message.data);
  });
  return () => {
    ends();
    live.close();
  };
});

effect(() => {
  if (isLive.value) newestWhenStopped.value = null;
  else if (newestWhenStopped.peek() === null) newestWhenStopped.value = newest.peek();
});

function takeStatus(answer: Status): void {
  status.value = answer;
  trouble.value = null;
  hear(answer.now);
}
if (firstState !== null) takeStatus(firstState.status);

/** Tells that telemetry of a time has come. */
export function hear(time: number | null): void {
  if (time !== null && time > (newest.peek() ?? 0)) newest.value = time;
  if (!isLive.peek() && newestWhenStopped.peek() === null) newestWhenStopped.value = newest.peek();
}

/** Asks once, so that something is there before the stream is. */
export async function askStatus(): Promise<void> {
  try {
    takeStatus(await client.status());
  } catch (error) {
    if (RequestError.is(error) && error.status === 401) location.assign(new URL('login', document.baseURI));
    trouble.value = messageOf(error);
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * A subscription as long as a part of the page is there.
 * @param request `null`: none
 */
export function useLive(request: Request | null, handler: LiveHandler): void {
  const latest = useRef(handler);
  latest.current = handler;
  const live = stream.value;
  const text = JSON.stringify(request);
  useEffect(() => {
    const wanted = JSON.parse(text) as Request | null;
    if (wanted === null || live === null) return;
    const subscription = live.subscribe(wanted, (message) => latest.current(message));
    return () => subscription.end();
  }, [live, text]);
}
