import { create, createFileRegistry, type DescMessage, type Message } from '@bufbuild/protobuf';
import type { GenMessage } from '@bufbuild/protobuf/codegenv2';
import {
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import {
  file_p4_v1_p4runtime,
  type Uint128,
  type WriteRequest,
  type WriteRequest_Atomicity,
} from '../generated/p4/v1/p4runtime_pb.js';

/*
 * WriteRequest and ReadResponse with their updates and entities as bytes. On the wire they are the same. So the server
 * decodes the updates of a large batch one by one, with pauses for packets, and writes entities without objects.
 */

export type RawWriteRequest = Message<'int.p4runtime.RawWriteRequest'> &
  Pick<WriteRequest, 'deviceId' | 'roleId' | 'role'> & {
    electionId?: Uint128 | undefined;
    updates: Uint8Array[];
    atomicity: WriteRequest_Atomicity;
  };

export type RawReadResponse = Message<'int.p4runtime.RawReadResponse'> & { entities: Uint8Array[] };

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
    { name: 'RawReadResponse', field: [field('entities', 1, Type.BYTES, { label: Label.REPEATED })] },
  ],
});

const registry = createFileRegistry(file, () => file_p4_v1_p4runtime);

function message(name: string): DescMessage {
  const found = registry.getMessage(`int.p4runtime.${name}`);
  if (found === undefined) throw new TypeError(`no message ${name}`);
  return found;
}

export const RawWriteRequestSchema = message('RawWriteRequest') as GenMessage<RawWriteRequest>;
export const RawReadResponseSchema = message('RawReadResponse') as GenMessage<RawReadResponse>;
