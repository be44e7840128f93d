import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { type P4Info, P4InfoSchema } from '../generated/p4/config/v1/p4info_pb.js';
import {
  SetForwardingPipelineConfigRequest_Action as Action,
  type DigestList,
  type ForwardingPipelineConfig,
  ForwardingPipelineConfig_CookieSchema,
  ForwardingPipelineConfigSchema,
  type IdleTimeoutNotification,
  PacketInSchema,
  type PacketOut,
  type ReadRequest,
  GetForwardingPipelineConfigRequest_ResponseType as ResponseType,
  type SetForwardingPipelineConfigRequest,
  type StreamMessageResponse,
  StreamMessageResponseSchema,
} from '../generated/p4/v1/p4runtime_pb.js';
import { Arbitration, electionIdOf, type RoleOptions, type RoleState, roleName } from './arbitration.js';
import { type Outcome, writeBatch } from './batch.js';
import { EntitySink } from './entity-sink.js';
import { IdleTimeouts } from './idle-timeouts.js';
import type { P4RuntimeLimits } from './limits.js';
import { Pacer } from './pacer.js';
import { type Allows, PipelineState } from './pipeline-state.js';
import type { RawWriteRequest } from './raw-messages.js';
import { reconcile } from './reconcile.js';
import { type FaultConsumer, invalid, Refusal, refusalOf, refuse } from './refusal.js';
import { RequestQueue } from './request-queue.js';
import { createSchema } from './schema.js';
import type { P4RuntimeTarget } from './target.js';

/** A pipeline that a device begins with. */
export interface PipelineOptions {
  readonly p4info: P4Info;
  /** What the target runs, as `p4_device_config`. */
  readonly deviceConfig: Uint8Array;
  readonly cookie?: bigint;
}

/** A device of a server. */
export interface DeviceOptions {
  /** From 0 to 2^64 - 1; clients should not have to use 0. */
  readonly deviceId: bigint | number;
  readonly target: P4RuntimeTarget;
  /** The pipeline at the start; without it the device waits for a client to set one. */
  readonly pipeline?: PipelineOptions;
  /** The roles that clients may take beside the default role. Absent: any role, each with all rights. */
  readonly roles?: Readonly<Record<string, RoleOptions>>;
}

/** Counts of a device. Dropped are messages to or from controllers that were lost, by reason. */
export interface DeviceStatistics {
  writes: number;
  updates: number;
  failedUpdates: number;
  reads: number;
  entitiesRead: number;
  pipelines: number;
  packetIns: number;
  packetOuts: number;
  digestLists: number;
  idleNotifications: number;
  readonly dropped: {
    /** There was no primary to send to. */
    noPrimary: number;
    /** The primary did not take what waits. */
    streamFull: number;
    /** Packets to the controller that are shorter than their header, or without a pipeline. */
    badPacketIn: number;
    /** Packets of controllers that are not primary, have wrong metadata, or find no pipeline. */
    badPacketOut: number;
  };
}

interface Loaded {
  readonly config: ForwardingPipelineConfig;
  readonly state: PipelineState;
  readonly idle: IdleTimeouts;
}

/** One device: its pipelines, its clients, and the requests to it one after the other. */
export class Device {
  readonly id: bigint;
  readonly target: P4RuntimeTarget;
  readonly arbitration: Arbitration;
  readonly statistics: DeviceStatistics = {
    writes: 0,
    updates: 0,
    failedUpdates: 0,
    reads: 0,
    entitiesRead: 0,
    pipelines: 0,
    packetIns: 0,
    packetOuts: 0,
    digestLists: 0,
    idleNotifications: 0,
    dropped: { noPrimary: 0, streamFull: 0, badPacketIn: 0, badPacketOut: 0 },
  };
  readonly #queue = new RequestQueue();
  readonly #limits: P4RuntimeLimits;
  readonly #onFault: FaultConsumer;
  /** Gets the packets. */
  #active: Loaded | undefined;
  /** Saved, and not committed: Writes and Reads go there. */
  #saved: Loaded | undefined;

  /** @throws TypeError, RangeError for wrong options; TargetError, Error if the first pipeline cannot be realised */
  constructor({ deviceId, target, pipeline, roles }: DeviceOptions, limits: P4RuntimeLimits, onFault: FaultConsumer) {
    this.id = BigInt(deviceId);
    if (this.id < 0n || this.id > 0xffff_ffff_ffff_ffffn) throw new RangeError(`device id ${deviceId}: 0 to 2^64 - 1`);
    this.target = target;
    this.#limits = limits;
    this.#onFault = onFault;
    this.arbitration = new Arbitration(this.id, limits, roles, (callback) => void this.#queue.run(callback));
    target.listen({
      packetIn: (bytes) => this.#packetIn(bytes),
      digest: (digestId, values) => this.#active?.state.digests.get(digestId)?.receive(values),
      portsChanged: () => {
        this.#active?.state.portsChanged();
        this.#saved?.state.portsChanged();
      },
    });
    if (pipeline !== undefined) this.#begin(pipeline);
  }

  /** The pipeline to which Writes and Reads refer. */
  get current(): PipelineState | undefined {
    return (this.#saved ?? this.#active)?.state;
  }

  /** The pipeline that gets the packets. */
  get active(): PipelineState | undefined {
    return this.#active?.state;
  }

  /** @throws Refusal for the whole request */
  async write(request: RawWriteRequest): Promise<Outcome> {
    const role = this.arbitration.role(roleName(request.role, request.roleId));
    const electionId = electionIdOf(request.electionId);
    this.#needPrimary(role, electionId);
    this.#needPipeline();
    if (request.updates.length > this.#limits.updates) {
      refuse(
        Code.ResourceExhausted,
        `a Write has at most ${this.#limits.updates} updates (limit updates), and this one has ${request.updates.length}`,
      );
    }
    return this.#queue.run(async () => {
      // Much may have changed while earlier requests ran.
      this.#needPrimary(role, electionId);
      const pipeline = this.#needPipeline();
      const outcome = await writeBatch(
        pipeline,
        request.updates,
        request.atomicity,
        this.#allows(role, pipeline),
        this.#onFault,
      );
      this.statistics.writes++;
      this.statistics.updates += request.updates.length;
      if (outcome !== undefined) this.statistics.failedUpdates += outcome.filter((each) => each !== undefined).length;
      return outcome;
    });
  }

  /**
   * Reads what a request selects, as of one moment between two Writes.
   *
   * @param limitBytes most bytes of the answer
   * @returns the entities, and an error per request if any failed
   * @throws Refusal for the whole request
   */
  async read(
    request: ReadRequest,
    limitBytes: number,
  ): Promise<{ readonly sink: EntitySink; readonly outcome: Outcome }> {
    const role = request.role === '' ? undefined : this.arbitration.role(request.role);
    this.#needPipeline();
    if (request.entities.length > this.#limits.readEntities) {
      refuse(Code.ResourceExhausted, `a Read has at most ${this.#limits.readEntities} entities (limit readEntities)`);
    }
    return this.#queue.run(async () => {
      const pipeline = this.#needPipeline();
      const allows = role === undefined ? () => true : this.#allows(role, pipeline);
      const sink = new EntitySink(limitBytes);
      const pacer = new Pacer();
      let outcome: (Refusal | undefined)[] | undefined;
      for (let i = 0; i < request.entities.length; i++) {
        try {
          await pipeline.read(request.entities[i]!, allows, sink, pacer);
        } catch (error) {
          outcome ??= new Array(request.entities.length).fill(undefined);
          outcome[i] = refusalOf(error, this.#onFault);
        }
        if (pacer.isDue()) await pacer.rest();
      }
      this.statistics.reads++;
      for (const chunk of sink.chunks) this.statistics.entitiesRead += chunk.count;
      return { sink, outcome };
    });
  }

  /** @throws Refusal, TargetError */
  async setPipeline(request: SetForwardingPipelineConfigRequest): Promise<void> {
    const role = this.arbitration.role(roleName(request.role, request.roleId));
    const electionId = electionIdOf(request.electionId);
    this.#needPrimary(role, electionId);
    if (role.options.pipeline === false) refuse(Code.PermissionDenied, 'the role may not set the pipeline');
    await this.#queue.run(() => {
      this.#needPrimary(role, electionId);
      return this.#setPipeline(request);
    });
  }

  /** The configuration of the pipeline to which Writes and Reads refer. */
  pipelineConfig(type: ResponseType): ForwardingPipelineConfig | undefined {
    const config = (this.#saved ?? this.#active)?.config;
    if (config === undefined) return undefined;
    const { p4info, p4DeviceConfig, cookie } = config;
    switch (type) {
      case ResponseType.ALL:
        return config;
      case ResponseType.COOKIE_ONLY:
        return create(ForwardingPipelineConfigSchema, { cookie });
      case ResponseType.P4INFO_AND_COOKIE:
        return create(ForwardingPipelineConfigSchema, { p4info, cookie });
      case ResponseType.DEVICE_CONFIG_AND_COOKIE:
        return create(ForwardingPipelineConfigSchema, { p4DeviceConfig, cookie });
      default:
        return invalid(`Invalid response_type in GetForwardingPipelineConfigRequest: ${type}`);
    }
  }

  /**
   * Runs a packet of a controller through the active pipeline.
   *
   * @throws Refusal
   */
  packetOut({ payload, metadata }: PacketOut, isAllowed: boolean): void {
    if (!isAllowed) refuse(Code.PermissionDenied, 'the role may not send packets');
    const header = this.active?.packetOut;
    if (header === undefined) refuse(Code.FailedPrecondition, 'No forwarding pipeline config set for this device');
    this.target.packetOut(header.join(metadata, payload));
    this.statistics.packetOuts++;
  }

  /** Ends timers and events. */
  close(): void {
    this.target.listen(undefined);
    for (const each of [this.#active, this.#saved]) close(each);
    this.#active = undefined;
    this.#saved = undefined;
  }

  /** Sends a message to the primary of each role that may get it. @returns false if none took it */
  #sendToPrimaries(
    update: StreamMessageResponse['update'],
    may: (role: RoleState, pipeline: PipelineState | undefined) => boolean,
  ): boolean {
    let primaries = 0;
    let sent = 0;
    for (const { role, client } of this.arbitration.primaries()) {
      if (!may(role, this.active)) continue;
      primaries++;
      if (client.send(create(StreamMessageResponseSchema, { update }))) sent++;
      else this.statistics.dropped.streamFull++;
    }
    if (primaries === 0) this.statistics.dropped.noPrimary++;
    return sent > 0;
  }

  #packetIn(bytes: Uint8Array): void {
    const packet = this.active?.packetIn.split(bytes);
    if (packet === undefined) {
      this.statistics.dropped.badPacketIn++;
      return;
    }
    const value = create(PacketInSchema, packet);
    const isSent = this.#sendToPrimaries({ case: 'packet', value }, ({ options }) => options.packetIn !== false);
    if (isSent) this.statistics.packetIns++;
  }

  #sendDigest(list: DigestList): boolean {
    const isSent = this.#sendToPrimaries({ case: 'digest', value: list }, (role, pipeline) =>
      pipeline === undefined ? false : this.#allows(role, pipeline)(list.digestId),
    );
    if (isSent) this.statistics.digestLists++;
    return isSent;
  }

  #sendIdle(tableId: number, value: IdleTimeoutNotification): void {
    const isSent = this.#sendToPrimaries({ case: 'idleTimeoutNotification', value }, (role, pipeline) =>
      pipeline === undefined ? false : this.#allows(role, pipeline)(tableId),
    );
    if (isSent) this.statistics.idleNotifications++;
  }

  #allows({ options }: RoleState, { schema }: PipelineState): Allows {
    const { entities, replication = entities === undefined } = options;
    if (entities === undefined && replication) return () => true;
    const names = entities && new Set(entities);
    const { tables, profiles, counters, meters, registers, valueSets, digests } = schema;
    const all: readonly ReadonlyMap<number, { readonly name: string }>[] = [
      tables,
      profiles,
      counters,
      meters,
      registers,
      valueSets,
      digests,
    ];
    return (id) => {
      if (id === 0) return replication;
      if (names === undefined) return true;
      const name = all.find((each) => each.has(id))?.get(id)?.name;
      return name !== undefined && names.has(name);
    };
  }

  #needPrimary(role: RoleState, electionId: bigint | undefined): void {
    if (!this.arbitration.isPrimary(role, electionId)) refuse(Code.PermissionDenied, 'Not primary');
  }

  #needPipeline(): PipelineState {
    return this.current ?? refuse(Code.FailedPrecondition, 'No forwarding pipeline config set for this device');
  }

  // Pipelines

  #begin({ p4info, deviceConfig, cookie }: PipelineOptions): void {
    const given = create(ForwardingPipelineConfigSchema, {
      p4info,
      p4DeviceConfig: deviceConfig,
      cookie: cookie === undefined ? undefined : create(ForwardingPipelineConfig_CookieSchema, { cookie }),
    });
    try {
      this.#commit(this.#load(given));
    } catch (error) {
      if (error instanceof Refusal) throw new TypeError(`the pipeline of device ${this.id}: ${error.message}`);
      throw error;
    }
  }

  async #setPipeline({ action, config }: SetForwardingPipelineConfigRequest): Promise<void> {
    switch (action) {
      case Action.VERIFY: {
        close(this.#load(config));
        return;
      }
      case Action.VERIFY_AND_SAVE: {
        const loaded = this.#load(config);
        close(this.#saved);
        this.#saved = loaded;
        return;
      }
      case Action.VERIFY_AND_COMMIT:
        this.#commit(this.#load(config));
        return;
      case Action.COMMIT: {
        if (config !== undefined) invalid('COMMIT takes no config');
        const saved = this.#saved ?? refuse(Code.NotFound, 'there is no saved config');
        this.#commit(saved);
        return;
      }
      case Action.RECONCILE_AND_COMMIT: {
        const loaded = this.#load(config);
        const before = this.current;
        try {
          if (before !== undefined) await reconcile(before, loaded.state);
        } catch (error) {
          close(loaded);
          throw error;
        }
        this.#commit(loaded);
        return;
      }
      default:
        invalid('Invalid SetForwardingPipeline action');
    }
  }

  #load(config: ForwardingPipelineConfig | undefined): Loaded {
    if (config === undefined) return invalid('the config is not set');
    if (config.p4info === undefined) return invalid('the config has no P4Info');
    const schema = createSchema(config.p4info);
    const target = this.target.prepare(schema, config.p4DeviceConfig);
    let idle: IdleTimeouts | undefined;
    const state = new PipelineState(schema, target, this.target, {
      sendDigest: (list) => this.#sendDigest(list),
      timeoutSet: (timeoutNs) => {
        // The entries of a saved pipeline begin to age when it is committed.
        if (this.#active?.state === state) idle?.within(timeoutNs);
      },
    });
    idle = new IdleTimeouts(state, this.target, (tableId, notification) => this.#sendIdle(tableId, notification));
    // Copies: what came by the network shares the memory of the whole request.
    const kept = create(ForwardingPipelineConfigSchema, {
      p4info: fromBinary(P4InfoSchema, toBinary(P4InfoSchema, config.p4info)),
      p4DeviceConfig: config.p4DeviceConfig.slice(),
      cookie: config.cookie,
    });
    return { config: kept, state, idle };
  }

  #commit(loaded: Loaded): void {
    this.target.activate(loaded.state.target);
    close(this.#active);
    if (this.#saved !== loaded) close(this.#saved);
    this.#saved = undefined;
    this.#active = loaded;
    this.statistics.pipelines++;
    loaded.state.portsChanged();
    loaded.idle.within(0);
  }
}

function close(loaded: Loaded | undefined): void {
  loaded?.state.close();
  loaded?.idle.close();
}
