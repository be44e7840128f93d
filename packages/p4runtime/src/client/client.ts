import { create, equals } from '@bufbuild/protobuf';
import type { IrProgram } from '@int/p4vm';
import { decodeData } from '../entities/data.js';
import { type Entity, type EntryAction, type EntryOptions, entry } from '../entities/entity.js';
import { EntityCodec } from '../entities/entity-codec.js';
import type { MatchInput } from '../entities/match.js';
import { type P4Info, P4InfoSchema } from '../messages/p4config.js';
import * as p4v1 from '../messages/p4v1.js';
import { p4infoOf } from '../p4info/p4info.js';
import { P4RuntimeError } from '../values/p4runtime-error.js';
import type { Value } from '../values/parse-value.js';
import { type Channel, channelOver, openChannel } from './channel.js';
import type { DigestList, IdleTimeouts, PacketIn } from './client-events.js';
import type { Atomicity, P4RuntimeClientOptions, Pipeline, SessionState } from './client-options.js';
import { EventStream } from './event-stream.js';
import type {
  ActionName,
  AnyProgram,
  DigestListOf,
  EntityOf,
  EntryActionOf,
  MatchOf,
  PacketInOf,
  PacketOutOf,
  ProgramTypes,
  ReadEntryOf,
  RestOf,
  TableEntryOf,
  TableName,
  UpdateOf,
} from './program-types.js';
import { type Change, changesBetween, questionsFor } from './reconcile.js';
import { Session } from './session.js';
import { errorOf } from './update-errors.js';

const TYPES = {
  insert: p4v1.Update_Type.INSERT,
  modify: p4v1.Update_Type.MODIFY,
  delete: p4v1.Update_Type.DELETE,
} as const;

const ATOMICITIES = {
  'continue-on-error': p4v1.WriteRequest_Atomicity.CONTINUE_ON_ERROR,
  'rollback-on-error': p4v1.WriteRequest_Atomicity.ROLLBACK_ON_ERROR,
  'dataplane-atomic': p4v1.WriteRequest_Atomicity.DATAPLANE_ATOMIC,
} as const;

const ACTIONS = {
  verify: p4v1.SetForwardingPipelineConfigRequest_Action.VERIFY,
  'verify-and-save': p4v1.SetForwardingPipelineConfigRequest_Action.VERIFY_AND_SAVE,
  'verify-and-commit': p4v1.SetForwardingPipelineConfigRequest_Action.VERIFY_AND_COMMIT,
  commit: p4v1.SetForwardingPipelineConfigRequest_Action.COMMIT,
  'reconcile-and-commit': p4v1.SetForwardingPipelineConfigRequest_Action.RECONCILE_AND_COMMIT,
} as const;

/**
 * A client of a switch that speaks P4Runtime: entities by names and values, with the P4Info of the switch. It holds one
 * session, which connects again when it breaks.
 *
 * With the types of a program, which `int p4 info FILE.p4 --types` writes, the compiler checks names, matches and parameters.
 */
export class P4RuntimeClient<P extends ProgramTypes = AnyProgram> {
  readonly #options: P4RuntimeClientOptions;
  readonly #channel: Channel;
  readonly #session: Session;
  #codec: EntityCodec | undefined;
  readonly #packets = new Set<EventStream<PacketIn>>();
  readonly #digests = new Set<EventStream<DigestList>>();
  readonly #idle = new Set<EventStream<IdleTimeouts>>();
  readonly #errors = new Set<EventStream<p4v1.StreamError>>();
  /** Messages on the stream that could not be read, such as packets while no P4Info is known. */
  unreadable = 0;

  constructor(options: P4RuntimeClientOptions) {
    const { target, tls, pingMs = 10_000, batch = 500 } = options;
    if (!Number.isInteger(batch) || batch < 1) throw new RangeError(`batch is ${batch}, and 1 is the least`);
    this.#options = options;
    this.#channel = typeof target === 'string' ? openChannel(target, tls, pingMs) : channelOver(target);
    this.#session = new Session(this.#channel.client, options, {
      onMessage: (message) => this.#receive(message),
      onPrimary: () => this.#becamePrimary(),
    });
  }

  /** Whether this client may write. */
  get isPrimary(): boolean {
    return this.#session.isPrimary;
  }

  /** The P4Info that names are looked up in; undefined before it is known. */
  get p4info(): P4Info | undefined {
    return this.#codec?.index.info;
  }

  /**
   * Opens the stream and takes part in the election.
   *
   * @returns whether this client is the primary
   * @throws P4RuntimeError if the switch cannot be reached, or refuses the client
   */
  connect(): Promise<boolean> {
    return this.#session.connect();
  }

  /** Ends the session and the connection. */
  async close(): Promise<void> {
    await this.#session.close();
    for (const streams of [this.#packets, this.#digests, this.#idle, this.#errors]) {
      for (const stream of streams) stream.close();
    }
    await this.#channel.close();
  }

  /**
   * A table entry by names and values, for this and other clients.
   *
   * @param action undefined: none, as for a question
   */
  entry<T extends TableName<P>, A extends ActionName<P, T> | EntryActionOf<P, T> | undefined = undefined>(
    table: T,
    match?: MatchOf<P, T>,
    action?: A,
    ...[params, options]: RestOf<P, A, EntryOptions>
  ): TableEntryOf<P, T> {
    const made = entry(
      table,
      match as Readonly<Record<string, MatchInput>> | undefined,
      action as string | EntryAction | undefined,
      params as Readonly<Record<string, Value>> | undefined,
      options,
    );
    return made as TableEntryOf<P, T>;
  }

  /** Version of the API that the switch speaks, such as `1.5.0`. */
  async version(): Promise<string> {
    const request = create(p4v1.CapabilitiesRequestSchema, { deviceId: this.#session.deviceId });
    return (await this.#call((client, options) => client.capabilities(request, options))).p4runtimeApiVersion;
  }

  /**
   * Gives the switch a pipeline.
   *
   * @param pipeline undefined for `commit`; the P4Info of a program may be left to `p4infoOf`
   */
  async setPipeline(
    pipeline:
      | Pipeline
      | { readonly program: IrProgram; readonly deviceConfig: Uint8Array; readonly cookie?: bigint }
      | undefined,
    action: keyof typeof ACTIONS = 'verify-and-commit',
  ): Promise<void> {
    const p4info = pipeline && ('program' in pipeline ? p4infoOf(pipeline.program) : pipeline.p4info);
    const config = pipeline && {
      p4info: p4info!,
      p4DeviceConfig: pipeline.deviceConfig,
      ...(pipeline.cookie !== undefined && {
        cookie: create(p4v1.ForwardingPipelineConfig_CookieSchema, { cookie: pipeline.cookie }),
      }),
    };
    const request = create(p4v1.SetForwardingPipelineConfigRequestSchema, {
      ...this.#session.identity,
      action: ACTIONS[action],
      ...(config && { config: create(p4v1.ForwardingPipelineConfigSchema, config) }),
    });
    await this.#call((client, options) => client.setForwardingPipelineConfig(request, options));
    if (action === 'commit') this.#codec = undefined;
    else if (p4info !== undefined && action.endsWith('commit')) this.useP4Info(p4info);
  }

  /** The pipeline of the switch; undefined if it has none. */
  async getPipeline(): Promise<Pipeline | undefined> {
    const config = await this.#getConfig(p4v1.GetForwardingPipelineConfigRequest_ResponseType.ALL);
    if (config?.p4info === undefined) return undefined;
    this.useP4Info(config.p4info);
    const { p4info, p4DeviceConfig, cookie } = config;
    return { p4info, deviceConfig: p4DeviceConfig, ...(cookie && { cookie: cookie.cookie }) };
  }

  /** Looks names up in this P4Info from now on. */
  useP4Info(p4info: P4Info): void {
    this.#codec = new EntityCodec(p4info);
  }

  insert(...entities: readonly EntityOf<P>[]): Promise<void> {
    return this.write(entities.map((entity) => ({ type: 'insert', entity })));
  }

  modify(...entities: readonly EntityOf<P>[]): Promise<void> {
    return this.write(entities.map((entity) => ({ type: 'modify', entity })));
  }

  delete(...entities: readonly EntityOf<P>[]): Promise<void> {
    return this.write(entities.map((entity) => ({ type: 'delete', entity })));
  }

  /**
   * Writes updates, in requests of at most `batch`. Those that are `continue-on-error` may be more: all of them are tried.
   *
   * @throws P4RuntimeError `ERR_P4RUNTIME_REFUSED` with the updates that were refused; others are done, or with the other
   *   kinds of atomicity none
   */
  async write(updates: readonly UpdateOf<P>[], atomicity: Atomicity = 'continue-on-error'): Promise<void> {
    const codec = await this.codec();
    const changes = updates.map(({ type, entity }) => ({ type: TYPES[type], entity: codec.encode(entity as Entity) }));
    await this.#write(changes, atomicity);
  }

  /**
   * Reads entities: all that match the questions. In a question, a name may be '' and an index or action left out for all;
   * a table entry without matches stands for all entries of its table.
   */
  async *read(...questions: readonly Entity[]): AsyncGenerator<Entity> {
    const codec = await this.codec();
    const entities = questions.map((each) => codec.encode(each));
    for await (const entity of this.#read(entities)) yield codec.decode(entity);
  }

  /** The entries of a table, as by {@link read}. */
  async *entries<T extends TableName<P>>(
    table: T,
    question: Partial<Omit<TableEntryOf<P, T>, 'kind' | 'table'>> = {},
  ): AsyncGenerator<ReadEntryOf<P, T>> {
    for await (const entity of this.read({ kind: 'table-entry', table, match: {}, ...question } as Entity)) {
      if (entity.kind === 'table-entry') yield entity as ReadEntryOf<P, T>;
    }
  }

  /**
   * Makes the switch have these entities: reads the tables, profiles, sets, sessions and cells that they belong to, and
   * writes what differs. Entries and members that are not among them are deleted; other tables are left alone.
   *
   * @returns the number of updates
   */
  async reconcile(wanted: readonly EntityOf<P>[]): Promise<number> {
    const codec = await this.codec();
    const messages = wanted.map((each) => codec.encode(each as Entity));
    const found: p4v1.Entity[] = [];
    for await (const entity of this.#read(questionsFor(messages))) {
      if (entity.entity.case !== 'tableEntry' || !entity.entity.value.isConst) found.push(entity);
    }
    const changes = changesBetween(messages, found);
    await this.#write(changes, 'continue-on-error');
    return changes.length;
  }

  /** Packets that the program sends to the controller, from now on. */
  packets(): EventStream<PacketInOf<P>> {
    return subscribe(this.#packets) as EventStream<PacketInOf<P>>;
  }

  /**
   * Data that the program sends with `digest`, from now on. Lists are acknowledged when they arrive. A digest must be
   * inserted first.
   */
  digests(): EventStream<DigestListOf<P>> {
    return subscribe(this.#digests) as unknown as EventStream<DigestListOf<P>>;
  }

  /** Entries that are idle, from now on. */
  idleTimeouts(): EventStream<IdleTimeouts> {
    return subscribe(this.#idle);
  }

  /** What the switch could not do with packets and acknowledgements, from now on. */
  streamErrors(): EventStream<p4v1.StreamError> {
    return subscribe(this.#errors);
  }

  /**
   * Sends a packet through the switch.
   *
   * @param metadata values of the header's fields by name
   * @throws P4RuntimeError `ERR_P4RUNTIME_CONNECTION` if there is no stream, or no room in it
   */
  async packetOut(payload: Uint8Array, ...[metadata]: PacketOutOf<P>): Promise<void> {
    const codec = await this.codec();
    const packet = create(p4v1.PacketOutSchema, {
      payload,
      metadata: codec.encodeMetadata((metadata ?? {}) as Readonly<Record<string, Value>>),
    });
    this.#session.send({ case: 'packet', value: packet });
  }

  /** The codec of the P4Info in use; asks the switch for it. @throws P4RuntimeError if it has no pipeline */
  async codec(): Promise<EntityCodec> {
    if (this.#codec !== undefined) return this.#codec;
    const config = await this.#getConfig(p4v1.GetForwardingPipelineConfigRequest_ResponseType.P4INFO_AND_COOKIE);
    if (config?.p4info === undefined) throw new P4RuntimeError('ERR_P4RUNTIME_REFUSED', 'the switch has no pipeline');
    this.#codec ??= new EntityCodec(config.p4info);
    return this.#codec;
  }

  async #getConfig(
    responseType: p4v1.GetForwardingPipelineConfigRequest_ResponseType,
  ): Promise<p4v1.ForwardingPipelineConfig | undefined> {
    const { deviceId } = this.#session;
    const request = create(p4v1.GetForwardingPipelineConfigRequestSchema, { deviceId, responseType });
    return (await this.#call((client, options) => client.getForwardingPipelineConfig(request, options))).config;
  }

  async #write(changes: readonly Change[], atomicity: Atomicity): Promise<void> {
    const { batch = 500 } = this.#options;
    if (atomicity !== 'continue-on-error' && changes.length > batch) {
      throw new RangeError(
        `${changes.length} updates are more than the ${batch} of one request, which ${atomicity} needs`,
      );
    }
    let failure: P4RuntimeError | undefined;
    for (let first = 0; first < changes.length; first += batch) {
      const request = create(p4v1.WriteRequestSchema, {
        ...this.#session.identity,
        atomicity: ATOMICITIES[atomicity],
        updates: changes.slice(first, first + batch).map((change) => create(p4v1.UpdateSchema, change)),
      });
      try {
        await this.#call((client, options) => client.write(request, options), first);
      } catch (error) {
        // All updates are tried, if it is for themselves that some were refused.
        const refused = errorOf(error, first);
        if (refused.updates.length === 0) throw refused;
        const { code, grpcCode, grpcName, updates } = refused;
        const all = [...(failure?.updates ?? []), ...updates];
        const message = failure?.message ?? refused.message;
        failure = new P4RuntimeError(code, message, {
          cause: refused,
          updates: all,
          ...(grpcCode !== undefined && { grpcCode }),
          ...(grpcName !== undefined && { grpcName }),
        });
      }
    }
    if (failure !== undefined) throw failure;
  }

  async *#read(entities: p4v1.Entity[]): AsyncGenerator<p4v1.Entity> {
    const { deviceId, role } = this.#session.identity;
    const request = create(p4v1.ReadRequestSchema, { deviceId, role, entities });
    try {
      // Large tables take their time: the limit is for each part of the answer, which the pings watch over.
      for await (const response of this.#channel.client.read(request)) yield* response.entities;
    } catch (error) {
      throw errorOf(error);
    }
  }

  async #call<T>(
    make: (client: Channel['client'], options: { timeoutMs: number }) => Promise<T>,
    first = 0,
  ): Promise<T> {
    if (this.#session.isClosed) throw new P4RuntimeError('ERR_P4RUNTIME_CLOSED', 'the client is closed');
    try {
      return await make(this.#channel.client, { timeoutMs: this.#options.timeoutMs ?? 30_000 });
    } catch (error) {
      throw errorOf(error, first);
    }
  }

  /** Sets a pipeline unless the switch has it. @returns whether it was set */
  async #needPipeline(wanted: Pipeline): Promise<boolean> {
    const found = await this.getPipeline();
    const isThere =
      found !== undefined &&
      sameBytes(found.deviceConfig, wanted.deviceConfig) &&
      found.cookie === wanted.cookie &&
      equals(P4InfoSchema, found.p4info, wanted.p4info);
    if (!isThere) await this.setPipeline(wanted);
    return !isThere;
  }

  /** Makes the switch what the session keeps. */
  async #becamePrimary(): Promise<void> {
    const { keep, pipeline, onState } = this.#options;
    if (keep === undefined && pipeline === undefined) return;
    let state: SessionState;
    try {
      // Another controller may have changed the pipeline meanwhile.
      this.#codec = undefined;
      const hasNewPipeline = pipeline !== undefined && (await this.#needPipeline(pipeline));
      const wanted = ((await keep?.()) ?? []) as readonly EntityOf<P>[];
      state = { kind: 'reconciled', changes: await this.reconcile(wanted), hasNewPipeline };
    } catch (error) {
      state = { kind: 'not-reconciled', error: errorOf(error) };
    }
    onState?.(state);
  }

  #receive({ update }: p4v1.StreamMessageResponse): void {
    const codec = this.#codec;
    switch (update.case) {
      case 'packet': {
        if (codec === undefined) this.unreadable++;
        else {
          const { payload, metadata } = update.value;
          this.#tell(this.#packets, () => ({ payload, metadata: codec.decodeMetadata(metadata) }));
        }
        break;
      }
      case 'digest': {
        const { digestId, listId, data, timestamp } = update.value;
        this.#session.send({ case: 'digestAck', value: create(p4v1.DigestListAckSchema, { digestId, listId }) });
        if (codec === undefined) this.unreadable++;
        else {
          const spec = codec.index.find('digest', digestId)?.typeSpec;
          const types = codec.index.info.typeInfo;
          this.#tell(this.#digests, () => ({
            digest: codec.index.nameOf('digest', digestId),
            listId,
            timestampNs: timestamp,
            data: data.map((each) => decodeData(spec, each, types)),
          }));
        }
        break;
      }
      case 'idleTimeoutNotification': {
        const { tableEntry, timestamp } = update.value;
        if (codec === undefined) this.unreadable++;
        else {
          this.#tell(this.#idle, () => ({
            timestampNs: timestamp,
            entries: tableEntry.map((each) => codec.decodeEntry(each)),
          }));
        }
        break;
      }
      case 'error':
        for (const stream of this.#errors) stream.push(update.value);
        break;
      default:
    }
  }

  /** An event for all its readers. One that cannot be read is counted. */
  #tell<T>(streams: ReadonlySet<EventStream<T>>, read: () => T): void {
    try {
      const event = read();
      for (const stream of streams) stream.push(event);
    } catch (error) {
      if (!P4RuntimeError.is(error)) throw error;
      this.unreadable++;
    }
  }
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}

function subscribe<T>(streams: Set<EventStream<T>>): EventStream<T> {
  const stream: EventStream<T> = new EventStream<T>(() => streams.delete(stream));
  streams.add(stream);
  return stream;
}
