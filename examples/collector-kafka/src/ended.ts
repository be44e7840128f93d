import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** How long a processor may take to end by itself: its brokers may be gone. */
const END_MS = 10_000;

/** Waits for the end of a process, which may be past, also by a signal. One that takes too long is killed. */
export async function ended(child: ChildProcess, withinMs: number = END_MS): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const killing = setTimeout(() => child.kill('SIGKILL'), withinMs);
  await once(child, 'exit');
  clearTimeout(killing);
}
