import type { RuntimeValue } from '../machine/runtime.js';
import type { PacketTrace } from './packet-trace.js';
import type { TraceEvent } from './trace.js';
import { hexOf } from './trace-text.js';

/** A value for `JSON.stringify`: numbers below 2^53 as numbers, others as decimal strings. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** A run-time value for JSON: a number below 2^53, a decimal string beyond. */
export function jsonNumber(value: RuntimeValue | string): string | number {
  if (typeof value !== 'bigint') return value;
  return value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER ? Number(value) : `${value}`;
}

function eventToJson(event: TraceEvent): JsonValue {
  switch (event.kind) {
    case 'table':
      return {
        ...event,
        keys: event.keys.map((key) => ({ name: key.name, value: jsonNumber(key.value) })),
        action: event.action ?? null,
        data: event.data.map(jsonNumber),
      };
    case 'assign':
      return { ...event, value: jsonNumber(event.value) };
    default:
      return { ...event };
  }
}

/** The trace as plain data: `{port, frame, events, outputs: [{port, frame}]}`, frames in hex. */
export function traceToJson(trace: PacketTrace): JsonValue {
  return {
    port: trace.port,
    frame: hexOf(trace.frame),
    events: trace.events.map(eventToJson),
    outputs: trace.outputs.map(({ port, frame }) => ({ port, frame: hexOf(frame) })),
  };
}
