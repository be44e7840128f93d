import { create, createFileRegistry, type DescMessage, type Message } from '@bufbuild/protobuf';
import type { GenMessage } from '@bufbuild/protobuf/codegenv2';
import { WireType } from '@bufbuild/protobuf/wire';
import {
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import {
  file_p4_v1_p4runtime,
  type ReadResponse,
  ReadResponseSchema,
  type Uint128,
  type WriteRequest,
  type WriteRequest_Atomicity,
} from '../generated/p4/v1/p4runtime_pb.js';

/*
 * WriteRequest with its updates, and ReadResponse with its entities, as bytes. On the wire they are the same. So the server
 * decodes the updates of a large batch one by one, with pauses for packets, and writes entities without objects.
 */

export type RawWriteRequest = Message<'int.p4runtime.RawWriteRequest'> &
  Pick<WriteRequest, 'deviceId' | 'roleId' | 'role'> & {
    electionId?: Uint128 | undefined;
    updates: Uint8Array[];
    atomicity: WriteRequest_Atomicity;
  };

function field(
  name: string,
  number: number,
  type: Type,
  more: Partial<FieldDescriptorProto> = {},
): FieldDescriptorProto {
  const label = more.label ?? Label.OPTIONAL;
  return create(FieldDescriptorProtoSchema, { name, number, type, label, typeName: more.typeName ?? '' });
}

const file = create(FileDescriptorProtoSchema, {
  name: 'int/p4runtime/raw.proto',
  package: 'int.p4runtime',
  syntax: 'proto3',
  dependency: [file_p4_v1_p4runtime.proto.name],
  messageType: [
    {
      name: 'RawWriteRequest',
      field: [
        field('device_id', 1, Type.UINT64),
        field('role_id', 2, Type.UINT64),
        field('election_id', 3, Type.MESSAGE, { typeName: '.p4.v1.Uint128' }),
        field('updates', 4, Type.BYTES, { label: Label.REPEATED }),
        field('atomicity', 5, Type.ENUM, { typeName: '.p4.v1.WriteRequest.Atomicity' }),
        field('role', 6, Type.STRING),
      ],
    },
  ],
});

const registry = createFileRegistry(file, () => file_p4_v1_p4runtime);

function message(name: string): DescMessage {
  const found = registry.getMessage(`int.p4runtime.${name}`);
  if (found === undefined) throw new TypeError(`no message ${name}`);
  return found;
}

export const RawWriteRequestSchema = message('RawWriteRequest') as GenMessage<RawWriteRequest>;

/**
 * A ReadResponse from bytes: the field `entities`, once or more often, but for the tag of the first. Fields that the library does not
 * know it writes as they are.
 */
export function readResponseOf(entities: Uint8Array): ReadResponse {
  const response = create(ReadResponseSchema);
  response.$unknown = [{ no: 1, wireType: WireType.LengthDelimited, data: entities }];
  return response;
}
