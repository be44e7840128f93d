import { PassThrough } from 'node:stream';
import { type MonitorEvent, parseGraph } from '@int/gpint';
import { expect, test } from 'vitest';
import { LiveView } from '../../src/monitor/live.js';

const graph = parseGraph('ring:20');

/** What a terminal would show after all that was written: only cursor up and erase below are known to it. */
function screenOf(text: string): string[] {
  const lines: string[] = [''];
  for (const piece of text.replaceAll('\x1b[', '^').split(/(\^\d*[AJm]|\n)/)) {
    const up = /^\^(\d+)A$/.exec(piece);
    if (up !== null) {
      // The line of the cursor and those above it that are drawn anew.
      lines.length -= Number(up[1]) + 1;
      lines.push('');
    } else if (piece === '\n') lines.push('');
    else if (!piece.startsWith('^')) lines[lines.length - 1] += piece;
  }
  return lines;
}

test('the live view replaces itself, and leaves nothing behind', () => {
  const stream = new PassThrough();
  let written = '';
  stream.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  const out = Object.assign(stream, { columns: 60 }) as unknown as NodeJS.WriteStream;
  const view = new LiveView(graph, out, 3);
  const events: readonly MonitorEvent[] = [
    { kind: 'session', session: 2, probes: 4, timeNs: 1e9 },
    { kind: 'sent', path: 0, position: 0, requestId: 1, prefix: [], recovery: false, bytes: 20, timeNs: 1e9 },
    { kind: 'sent', path: 0, position: 2, requestId: 2, prefix: [], recovery: true, bytes: 20, timeNs: 1.1e9 },
    { kind: 'notice', path: 0, position: 0, requestId: 1, nodes: [0, 1], timeNs: 1.2e9 },
    { kind: 'home', path: 0, position: 0, requestId: 1, nodes: [1, 2], timeNs: 1.3e9 },
    { kind: 'link', from: 1, to: 2, status: 'unavailable', timeNs: 1.3e9 },
    { kind: 'switch', node: 5, reason: 'no-feedback', timeNs: 1.4e9 },
    { kind: 'done', path: 0, position: 0, outcome: 'finished', timeNs: 1.4e9 },
  ];
  for (const event of events) {
    view.observe(event);
    view.draw(event.timeNs);
  }
  view.draw(1.5e9);
  expect(screenOf(written)).toEqual([
    'session 2 of 3  0.50 s',
    `switches  ${'█'.repeat(4)}${'░'.repeat(24)}  3 of 20`,
    'probes    1 sent, 1 for recovery, 3 paths open',
    `each      ●●●··✕${'·'.repeat(14)}`,
    '  0.30 s  s2 to s3: unavailable',
    '  0.40 s  s6 given up: no-feedback',
    '',
  ]);
  view.erase();
  expect(screenOf(written)).toEqual(['']);
});
