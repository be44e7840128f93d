import type { RuntimeValue } from '../machine/runtime.js';
import type { PacketTrace } from './packet-trace.js';
import type { TraceEvent } from './trace.js';

/** Lower-case hex, two digits a byte. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte < 16 ? '0' : '') + byte.toString(16)).join('');
}

function number(value: RuntimeValue | string): string {
  if (typeof value === 'string') return value;
  // Small numbers read best in decimal, addresses and the like also in hex.
  return value >= -9 && value <= 9 ? `${value}` : value < 0 ? `${value}` : `${value} (0x${value.toString(16)})`;
}

/** One event as a line, without indent. */
export function formatTraceEvent(event: TraceEvent): string {
  switch (event.kind) {
    case 'stage':
      return event.name;
    case 'state':
      return `state ${event.state}${event.parser === '' ? '' : ` of ${event.parser}`}`;
    case 'extract':
      return `extract ${event.header}: ${event.bits} bits`;
    case 'parser-error':
      return `parser error ${event.error}`;
    case 'table': {
      const keys = event.keys.map((key) => `${key.name} = ${number(key.value)}`).join(', ');
      const result = event.hit ? `hit, entry ${event.handle}` : 'miss';
      const data = event.data.map(number).join(', ');
      const action = event.action === undefined ? 'no action' : `${event.action}(${data})`;
      return `table ${event.table}${keys === '' ? '' : ` [${keys}]`}: ${result}, ${action}`;
    }
    case 'action':
      return `action ${event.action}`;
    case 'assign':
      return `${event.target} = ${number(event.value)}`;
    case 'extern':
      return event.call;
    case 'emit':
      return `emit ${event.header}: ${event.bits} bits`;
    case 'packet':
      return `packet ${event.what}`;
  }
}

/** The trace as text: stages at the margin, their events indented, then the packets that left. */
export function formatTrace(trace: PacketTrace): string {
  const lines = [`packet in by port ${trace.port}: ${trace.frame.length} bytes`];
  for (const event of trace.events) {
    const isHeading = event.kind === 'stage' || event.kind === 'packet';
    lines.push(`${isHeading ? '' : '  '}${formatTraceEvent(event)}`);
  }
  for (const { port, frame } of trace.outputs) lines.push(`out by port ${port}: ${hexOf(frame)}`);
  if (trace.outputs.length === 0) lines.push('nothing came out');
  return `${lines.join('\n')}\n`;
}
