import { setImmediate } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import {
  CapabilitiesResponseSchema,
  GetForwardingPipelineConfigResponseSchema,
  P4Runtime,
  type ReadRequest,
  type ReadResponse,
  SetForwardingPipelineConfigResponseSchema,
  type StreamMessageRequest,
  type StreamMessageResponse,
  WriteResponseSchema,
} from '../generated/p4/v1/p4runtime_pb.js';
import type { Outcome } from './batch.js';
import { batchError, metadataRoom } from './batch-errors.js';
import type { Device } from './device.js';
import type { P4RuntimeLimits } from './limits.js';
import { Pacer } from './pacer.js';
import { RawWriteRequestSchema, readResponseOf } from './raw-messages.js';
import { type FaultConsumer, refusalOf } from './refusal.js';
import { StreamClient } from './stream-client.js';

/** The version of P4Runtime that the server implements. */
const API_VERSION = '1.5.0';

function connectError(error: unknown, onFault: FaultConsumer): ConnectError {
  if (error instanceof ConnectError) return error;
  const { code, message } = refusalOf(error, onFault);
  return new ConnectError(message, code, undefined, undefined, error);
}

/** The RPCs of P4Runtime, over any number of devices. */
export class P4RuntimeService {
  readonly #devices: ReadonlyMap<bigint, Device>;
  readonly #limits: P4RuntimeLimits;
  readonly #onFault: FaultConsumer;
  readonly #clients = new Set<StreamClient>();
  #readBytes = 0;
  #refusedStreams = 0;

  constructor(devices: ReadonlyMap<bigint, Device>, limits: P4RuntimeLimits, onFault: FaultConsumer) {
    this.#devices = devices;
    this.#limits = limits;
    this.#onFault = onFault;
  }

  /** Open streams. */
  get streams(): number {
    return this.#clients.size;
  }

  /** Streams that were one too many. */
  get refusedStreams(): number {
    return this.#refusedStreams;
  }

  /** Adds the RPCs to a router. */
  readonly routes = (router: ConnectRouter): void => {
    const { method } = P4Runtime;
    const { writeBytes, pipelineBytes, messageBytes, packetBytes } = this.#limits;
    const small = { readMaxBytes: messageBytes };
    router.rpc(
      { ...method.write, input: RawWriteRequestSchema },
      (request, { values }) =>
        this.#answer(request.deviceId, async (device) => {
          const outcome = await device.write(request);
          if (outcome !== undefined) {
            // Packets have their turn before the error of many updates is made, and before it is encoded.
            await setImmediate();
            const error = batchError(outcome, 'updates', values.get(metadataRoom));
            await setImmediate();
            throw error;
          }
          return create(WriteResponseSchema);
        }),
      { readMaxBytes: writeBytes },
    );
    router.rpc(method.read, (request, { values }) => this.#read(request, values.get(metadataRoom)), small);
    router.rpc(
      method.setForwardingPipelineConfig,
      (request) =>
        this.#answer(request.deviceId, async (device) => {
          await device.setPipeline(request);
          return create(SetForwardingPipelineConfigResponseSchema);
        }),
      { readMaxBytes: pipelineBytes },
    );
    router.rpc(
      method.getForwardingPipelineConfig,
      (request) =>
        this.#answer(request.deviceId, (device) => {
          const config = device.pipelineConfig(request.responseType);
          return create(GetForwardingPipelineConfigResponseSchema, { config });
        }),
      small,
    );
    router.rpc(
      method.capabilities,
      ({ deviceId }) => {
        // Clients that leave the id out ask about the server, whether or not a device has id 0.
        if (deviceId !== 0n) this.#device(deviceId);
        return create(CapabilitiesResponseSchema, { p4runtimeApiVersion: API_VERSION });
      },
      small,
    );
    router.rpc(method.streamChannel, (requests, context) => this.#stream(requests, context), {
      readMaxBytes: packetBytes,
    });
  };

  /** Ends all streams. */
  close(): void {
    for (const client of this.#clients) client.outbox.end(new ConnectError('the server ends', Code.Unavailable));
  }

  #device(id: bigint): Device {
    const device = this.#devices.get(id);
    if (device === undefined) throw new ConnectError(`there is no device ${id}`, Code.NotFound);
    return device;
  }

  async #answer<Response>(
    deviceId: bigint,
    answer: (device: Device) => Response | Promise<Response>,
  ): Promise<Response> {
    try {
      return await answer(this.#device(deviceId));
    } catch (error) {
      throw connectError(error, this.#onFault);
    }
  }

  async *#read(request: ReadRequest, room: number): AsyncGenerator<ReadResponse> {
    const limit = this.#limits.readBytes - this.#readBytes;
    if (limit <= 0) throw new ConnectError('too many answers wait to be sent', Code.ResourceExhausted);
    const { sink, outcome } = await this.#answer(request.deviceId, (device) => device.read(request, limit));
    this.#readBytes += sink.bytes;
    try {
      for (const chunk of sink.chunks) yield readResponseOf(chunk.field);
    } finally {
      this.#readBytes -= sink.bytes;
    }
    if (outcome !== undefined) throw batchError(outcome as NonNullable<Outcome>, 'requests', room);
  }

  async *#stream(
    requests: AsyncIterable<StreamMessageRequest>,
    { signal }: HandlerContext,
  ): AsyncGenerator<StreamMessageResponse> {
    if (this.#clients.size >= this.#limits.streams) {
      this.#refusedStreams++;
      throw new ConnectError(`there are ${this.#clients.size} streams already`, Code.ResourceExhausted);
    }
    const client = new StreamClient((id) => this.#devices.get(id), this.#limits.streamBytes, this.#onFault);
    this.#clients.add(client);
    const leave = (): void => {
      client.leave();
      this.#clients.delete(client);
    };
    signal.addEventListener('abort', leave, { once: true });
    void this.#receive(client, requests, signal).then(leave);
    try {
      yield* client.outbox.messages();
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  /** Takes the messages of a stream until it ends. */
  async #receive(
    client: StreamClient,
    requests: AsyncIterable<StreamMessageRequest>,
    signal: AbortSignal,
  ): Promise<void> {
    const pacer = new Pacer();
    try {
      for await (const request of requests) {
        client.receive(request);
        if (client.outbox.isEnded) return;
        if (pacer.isDue()) await pacer.rest();
      }
    } catch (error) {
      // A stream that its client has left fails in any way.
      client.outbox.end(connectError(error, signal.aborted ? () => {} : this.#onFault));
    }
  }
}
