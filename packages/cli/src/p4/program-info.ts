import { type DataType, describeProgram, type IrProgram, type StructDataType } from '@int/p4vm';

/** A type in P4 syntax. */
function typeName(type: DataType): string {
  switch (type.kind) {
    case 'bits':
      return type.enumName ?? `${type.isSigned ? 'int' : 'bit'}<${type.width}>`;
    case 'varbit':
      return `varbit<${type.maxWidth}>`;
    case 'stack':
      return `${typeName(type.element)}[${type.size}]`;
    case 'enum':
    case 'struct':
    case 'header':
    case 'union':
      return type.name;
    default:
      return type.kind;
  }
}

function fieldsOf(type: StructDataType): { name: string; type: string }[] {
  return type.fields.map((field) => ({ name: field.name, type: typeName(field.type) }));
}

/** The parts of a program as one object for JSON: the control plane's view, and the pipeline of packets. */
export function programInfo(program: IrProgram): Readonly<Record<string, unknown>> {
  const { parser, verifyChecksum, ingress, egress, computeChecksum, deparser, headers, metadata } = program;
  return {
    parser: { name: parser.name, states: parser.states.map(({ name }) => name) },
    controls: {
      verifyChecksum: verifyChecksum.name,
      ingress: ingress.name,
      egress: egress.name,
      computeChecksum: computeChecksum.name,
      deparser: deparser.name,
    },
    headers: { type: headers.name, fields: fieldsOf(headers) },
    metadata: { type: metadata.name, fields: fieldsOf(metadata) },
    types: program.structs
      .filter(({ kind }) => kind !== 'struct')
      .map((type) => ({ kind: type.kind, name: type.name, fields: fieldsOf(type) })),
    fieldLists: [...program.fieldLists].map(([id, fields]) => ({ id, fields: fields.map((path) => path.join('.')) })),
    ...describeProgram(program),
  };
}

/** The parts of a program as lines of text. */
export function programText(program: IrProgram): string[] {
  const { parser, ingress, egress, deparser, headers, metadata } = program;
  const lines = [
    `parser ${parser.name}: states ${parser.states.map(({ name }) => name).join(', ')}`,
    `ingress ${ingress.name}, egress ${egress.name}, deparser ${deparser.name}`,
  ];
  for (const [what, type] of [
    ['headers', headers],
    ['metadata', metadata],
  ] as const) {
    lines.push(`${what} ${type.name}`);
    for (const field of type.fields) lines.push(`  ${field.name}: ${typeName(field.type)}`);
  }
  const { tables, counters, meters, registers, actionProfiles } = describeProgram(program);
  for (const [at, table] of tables.entries()) {
    lines.push(`table ${table.name}, size ${table.size}`);
    for (const key of program.tables[at]?.keys ?? []) {
      lines.push(`  key ${key.name}: ${key.matchKind} ${typeName(key.type)}`);
    }
    for (const { action } of program.tables[at]?.actions ?? []) {
      const data = action.parameters.filter(({ direction }) => direction === 'none');
      const parameters = data.map(({ variable }) => `${typeName(variable.type)} ${variable.name}`);
      lines.push(`  action ${action.name}(${parameters.join(', ')})`);
    }
  }
  const sized = (name: string, size: number | null): string => (size === null ? name : `${name}[${size}]`);
  for (const { name, size } of counters) lines.push(`counter ${sized(name, size)}`);
  for (const { name, size } of meters) lines.push(`meter ${sized(name, size)}`);
  for (const { name, size, kind, width } of registers) lines.push(`register ${sized(name, size)} of ${kind}<${width}>`);
  for (const { name } of actionProfiles) lines.push(`action profile ${name}`);
  return lines;
}
