import type { Http2Session } from 'node:http2';
import { create, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createContextKey } from '@connectrpc/connect';
import { ErrorSchema } from '../generated/p4/v1/p4runtime_pb.js';
import { OK, type Refusal, refusalOf } from './refusal.js';

/** Bytes of the trailer of an answer that its client takes, uncompressed; a client in this process takes any. */
export const metadataRoom = createContextKey(Number.POSITIVE_INFINITY);

/** The longest value that nghttp2, and with it Node, takes. More ends the connection. It tells nothing of it. */
const NGHTTP2_BYTES = 1 << 16;
/** Clients that stand on nghttp2, and may still tell that they take more. */
const ON_NGHTTP2 = /^(?:connect-es|grpc-node-js)\//;
/** What stands for no word about it. */
const UNTOLD = 0xffff_ffff;
/** What gRPC's C core tells by default, and what it then takes for certain. Between the two it refuses at random. */
const CORE_BYTES = 16_384;
const CORE_SURE_BYTES = 8192;
/** The part of what it tells that the C core takes for certain, once `grpc.max_metadata_size` is given. */
const SURE_PART = 4 / 5;

/**
 * Bytes of a trailer that the other side of a connection takes for certain.
 * Source: RFC 9113, 6.5.2 (SETTINGS_MAX_HEADER_LIST_SIZE); gRPC, metadata limits.
 */
export function metadataRoomOf(
  { remoteSettings }: Pick<Http2Session, 'remoteSettings'>,
  userAgent: string | undefined,
): number {
  const told = remoteSettings?.maxHeaderListSize ?? UNTOLD;
  if (told === UNTOLD) return NGHTTP2_BYTES;
  const sure = told === CORE_BYTES ? CORE_SURE_BYTES : Math.floor(told * SURE_PART);
  return ON_NGHTTP2.test(userAgent ?? '') ? Math.min(sure, NGHTTP2_BYTES) : sure;
}

/** Most bytes of all messages of a batch's errors, however much the client takes. */
const MOST_MESSAGE_BYTES = 128 * 1024;
/** Bytes of the trailer beside the details: names, code, text, and 32 for each field. */
const BESIDE_BYTES = 384;
/** Bytes of the details beside those of the updates: the code and the text once more. */
const STATUS_BYTES = 64;
/** Bytes of the details for an update without a message: its type's address, its code, their lengths. */
const BARE_BYTES = 42;
/** Bytes for some messages, in a batch of the size that a refusal advises. */
const SOME_MESSAGES_BYTES = 512;
/** Bytes that a message adds beside its own: its length, and those of what holds it. */
const MESSAGE_EXTRA_BYTES = 5;

interface Detail {
  readonly type: string;
  readonly value: Uint8Array;
}

function detailOf(refusal: Refusal | undefined, message: string): Detail {
  const value = toBinary(ErrorSchema, create(ErrorSchema, { canonicalCode: refusal?.code ?? OK, message }));
  return { type: ErrorSchema.typeName, value };
}

/**
 * The error of a batch, with the outcome of each update or request. If the client's room is scarce, the later ones are without
 * a message. If not even their codes fit, it is RESOURCE_EXHAUSTED without any of them.
 * Source: P4Runtime specification 1.5, 12.3 and the appendix on the size of gRPC metadata.
 *
 * @param what the plural of what the batch holds
 * @param room bytes of the trailer that the client takes
 */
export function batchError(outcome: readonly (Refusal | undefined)[], what: string, room: number): ConnectError {
  const failed = outcome.filter((each) => each !== undefined).length;
  const text = `${failed} of ${outcome.length} ${what} failed`;
  // In base64 three bytes are four.
  const bytes = Math.max(0, Math.floor((room - BESIDE_BYTES) * 0.75)) - STATUS_BYTES;
  const spare = bytes - outcome.length * BARE_BYTES;
  if (spare < 0) {
    const most = Math.max(1, Math.floor((bytes - SOME_MESSAGES_BYTES) / BARE_BYTES));
    return new ConnectError(
      `${text}, and their errors do not fit the metadata that the client takes: send at most ${most} ${what} at a time, ` +
        'or raise grpc.max_metadata_size',
      Code.ResourceExhausted,
    );
  }
  let left = Math.min(spare, MOST_MESSAGE_BYTES);
  // Most outcomes of a batch are the same, and each is encoded once.
  const encoded = new Map<Refusal | undefined, Detail>();
  const bare = new Map<Code | undefined, Detail>();
  const error = new ConnectError(text, Code.Unknown);
  error.details = outcome.map((each) => {
    const refusal = each && refusalOf(each);
    if (refusal !== undefined && left > 0) {
      left -= Buffer.byteLength(refusal.message) + MESSAGE_EXTRA_BYTES;
      if (left >= 0) return kept(encoded, each, () => detailOf(refusal, refusal.message));
    }
    return kept(bare, refusal?.code, () => detailOf(refusal, ''));
  });
  return error;
}

function kept<Key>(map: Map<Key, Detail>, key: Key, make: () => Detail): Detail {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}
