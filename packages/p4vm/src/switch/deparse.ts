import type { PipelineCode } from '../compile/pipeline.js';
import type { Runtime } from '../machine/runtime.js';

/**
 * Computes checksums and writes headers and payload, from byte 0 of `runtime.output.bytes`.
 *
 * @param truncate the length in bytes to which the packet will be cut, -1 for no cut. Sums over the payload leave out
 *   payload bytes beyond this number
 * @returns the length in bytes before the cut; -1 if it is longer than a packet may be
 */
export function deparsePacket(runtime: Runtime, code: PipelineCode, truncate: number): number {
  const { output, input, payloadStart, payloadLength } = runtime;
  if (truncate >= 0 && truncate < payloadLength) runtime.payloadLength = truncate;
  code.computeChecksum();
  output.bits = 0;
  code.deparse();
  const headers = Math.ceil(output.bits / 8);
  const size = headers + payloadLength;
  if (size > output.most) return -1;
  if (output.bytes.length < size) {
    const larger = new Uint8Array(Math.max(size, 2 * output.bytes.length));
    larger.set(output.bytes.subarray(0, headers));
    output.bytes = larger;
  }
  copy(input.bytes, payloadStart, payloadLength, output.bytes, headers);
  return size;
}

/** `set(subarray)` makes an object, so short payloads are copied byte by byte. */
function copy(from: Uint8Array, start: number, length: number, to: Uint8Array, at: number): void {
  if (length > 64) to.set(from.subarray(start, start + length), at);
  else for (let i = 0; i < length; i++) to[at + i] = from[start + i]!;
}
