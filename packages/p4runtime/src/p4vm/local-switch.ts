import { create, fromBinary } from '@bufbuild/protobuf';
import type { IrProgram, V1Switch } from '@int/p4vm';
import type { Update } from '../client/client-options.js';
import { grpcNameOf } from '../client/update-errors.js';
import type { Entity } from '../entities/entity.js';
import { EntityCodec } from '../entities/entity-codec.js';
import { EntitySchema, TableEntrySchema, Update_Type, UpdateSchema } from '../generated/p4/v1/p4runtime_pb.js';
import type * as p4config from '../messages/p4config.js';
import { P4InfoError } from '../p4info/p4info-error.js';
import { EntityWriter } from '../server/entity-writer.js';
import { PipelineState } from '../server/pipeline-state.js';
import { refusalOf } from '../server/refusal.js';
import { createSchema, type PipelineSchema } from '../server/schema.js';
import { P4RuntimeError } from '../values/p4runtime-error.js';
import { P4vmTarget } from './p4vm-target.js';

/** A program with its P4Info, for any number of {@link LocalSwitch}. */
export class LocalProgram {
  readonly codec: EntityCodec;
  readonly schema: PipelineSchema;

  /** @throws Refusal if P4Info is no sound one */
  constructor(
    readonly program: IrProgram,
    readonly p4info: p4config.P4Info,
  ) {
    this.codec = new EntityCodec(p4info);
    this.schema = createSchema(p4info);
  }
}

/** Why a switch refuses an update, as its server would answer. */
export interface RefusedUpdate {
  /** Canonical code of gRPC, such as 6. */
  readonly grpcCode: number;
  /** Such as `ALREADY_EXISTS`. */
  readonly grpcName: string;
  readonly message: string;
}

const INVALID_ARGUMENT = 3;
/** Tag of table entries within Entity. */
const TABLE_ENTRY = 0x12;
const TYPES = { insert: Update_Type.INSERT, modify: Update_Type.MODIFY, delete: Update_Type.DELETE } as const;

/**
 * A machine in this process that is written to at once, without a server. It goes through the state of a server's device: what it
 * refuses, that would refuse.
 */
export class LocalSwitch {
  readonly machine: V1Switch;
  readonly #codec: EntityCodec;
  readonly #state: PipelineState;
  readonly #target: P4vmTarget;

  /** @throws TargetError if P4Info is not that of the program */
  constructor({ codec, schema, program }: LocalProgram, target: P4vmTarget = new P4vmTarget()) {
    this.#codec = codec;
    this.#target = target;
    const pipeline = this.#target.prepareProgram(schema, program);
    this.machine = pipeline.machine;
    this.#state = new PipelineState(schema, pipeline, this.#target, {
      sendDigest: () => false,
      timeoutSet: () => {},
    });
    this.#target.activate(pipeline);
    this.#target.listen({ packetIn: () => {}, digest: () => {}, portsChanged: () => this.#state.portsChanged() });
  }

  /** Carries out an update, whole or not at all. @returns why it is refused */
  write({ type, entity }: Update): RefusedUpdate | undefined {
    try {
      const message = create(UpdateSchema, { type: TYPES[type], entity: this.#codec.encode(entity) });
      this.#state.write(message, () => true, undefined);
      return undefined;
    } catch (error) {
      // Names that P4Info does not know, values that do not fit: the client throws, nothing is sent.
      if (P4InfoError.is(error) || P4RuntimeError.is(error)) {
        return { grpcCode: INVALID_ARGUMENT, grpcName: grpcNameOf(INVALID_ARGUMENT), message: error.message };
      }
      const { code, message } = refusalOf(error);
      return { grpcCode: code, grpcName: grpcNameOf(code), message };
    }
  }

  /** Says whether a port is up; at first all are. @throws TypeError if the target's host knows by itself */
  setPort(port: number, isUp: boolean): void {
    this.#target.setPort(port, isUp);
  }

  /** Entries of each table that takes any, by its name, with the room for them. */
  tables(): { readonly table: string; readonly entries: number; readonly size: number }[] {
    return this.machine.state.tables.map((each) => ({
      table: each.declaration.name,
      entries: each.count,
      size: each.size,
    }));
  }

  /** An entry of a table by its handle, without meter and counter; undefined: no such table. @throws ControlError for a wrong handle */
  entry(table: string, handle: number): Entity | undefined {
    const state = [...this.#state.tables.values()].find(({ schema }) => schema.name === table);
    if (state === undefined) return undefined;
    const place = state.target.entry(handle);
    const writer = new EntityWriter();
    state.reader.writeEntry(writer, TABLE_ENTRY, place, create(TableEntrySchema));
    return this.#codec.decode(fromBinary(EntitySchema, writer.finish()));
  }

  /** The entity as its server would answer for it: full names and shortest values. @throws P4InfoError, P4RuntimeError */
  normal(entity: Entity): Entity {
    return this.#codec.decode(this.#codec.encode(entity));
  }
}
