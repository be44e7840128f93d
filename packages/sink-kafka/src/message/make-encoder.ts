import type { MessageEncoder, MessageFormat } from './encoder.js';
import { JsonEncoder } from './json-encoder.js';
import { ProtobufEncoder } from './protobuf-encoder.js';

/** A new encoder that writes values in a format. */
export function makeEncoder(format: MessageFormat): MessageEncoder {
  return format === 'json' ? new JsonEncoder() : new ProtobufEncoder();
}
