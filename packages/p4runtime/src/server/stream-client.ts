import { create } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import {
  DigestListAckErrorSchema,
  PacketOutErrorSchema,
  type StreamError,
  StreamErrorSchema,
  type StreamMessageRequest,
  type StreamMessageResponse,
  StreamMessageResponseSchema,
  StreamOtherErrorSchema,
} from '../generated/p4/v1/p4runtime_pb.js';
import type { Client, RoleState } from './arbitration.js';
import type { Device } from './device.js';
import { Outbox } from './outbox.js';
import { type FaultConsumer, invalid, refusalOf, refuse } from './refusal.js';

/** One stream of a controller. */
export class StreamClient implements Client {
  readonly outbox: Outbox;
  #device: Device | undefined;
  #role: RoleState | undefined;

  /** @param find the device with an id */
  constructor(
    readonly find: (deviceId: bigint) => Device | undefined,
    mostBytes: number,
    readonly onFault: FaultConsumer,
  ) {
    this.outbox = new Outbox(mostBytes);
  }

  send(message: StreamMessageResponse): boolean {
    return this.outbox.push(message);
  }

  /** Takes a message of the controller. @throws Refusal that ends the stream */
  receive({ update }: StreamMessageRequest): void {
    switch (update.case) {
      case 'arbitration': {
        const { deviceId } = update.value;
        if (this.#device !== undefined && this.#device.id !== deviceId) {
          refuse(Code.FailedPrecondition, 'Invalid device id: the device of a stream cannot change');
        }
        const device = this.#device ?? this.find(deviceId);
        if (device === undefined) refuse(Code.NotFound, `there is no device ${deviceId}`);
        this.#role = device.arbitration.update(this, update.value, this.#role);
        this.#device = device;
        return;
      }
      case 'packet': {
        const packetOut = update.value;
        this.#attempt({ case: 'packetOut', value: create(PacketOutErrorSchema, { packetOut }) }, () =>
          this.#needPrimary().packetOut(packetOut, this.#role!.options.packetOut !== false),
        );
        return;
      }
      case 'digestAck': {
        const { digestId, listId } = update.value;
        const value = create(DigestListAckErrorSchema, { digestListAck: update.value });
        this.#attempt({ case: 'digestListAck', value }, () => {
          const digest = this.#needPrimary().active?.digests.get(digestId);
          if (digest === undefined) invalid(`Invalid P4 id: ${digestId} is not a valid digest id`);
          digest.acknowledge(listId);
        });
        return;
      }
      default: {
        const other = update.case === 'other' ? update.value : undefined;
        this.#attempt({ case: 'other', value: create(StreamOtherErrorSchema, { other }) }, () =>
          refuse(
            update.case === 'other' ? Code.Unimplemented : Code.InvalidArgument,
            'Invalid stream message request type: it is an arbitration, a packet or an acknowledgement',
          ),
        );
      }
    }
  }

  /** Leaves its role, so that others hear of it. */
  leave(): void {
    if (this.#role !== undefined) this.#device?.arbitration.leave(this, this.#role);
    this.#role = undefined;
    this.outbox.end();
  }

  #needPrimary(): Device {
    if (this.#device === undefined || this.#role?.primary?.client !== this) {
      return refuse(Code.PermissionDenied, 'Not primary');
    }
    return this.#device;
  }

  /** Tells the controller of an error, without an end of the stream. */
  #attempt(details: StreamError['details'], action: () => void): void {
    try {
      action();
    } catch (error) {
      const { code, message } = refusalOf(error, this.onFault);
      if (details.case === 'packetOut' && this.#device !== undefined) this.#device.statistics.dropped.badPacketOut++;
      const value = create(StreamErrorSchema, { canonicalCode: code, message, details });
      this.send(create(StreamMessageResponseSchema, { update: { case: 'error', value } }));
    }
  }
}
