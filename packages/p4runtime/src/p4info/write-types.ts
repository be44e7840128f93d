import * as p4config from '../messages/p4config.js';

/*
 * P4Info as a TypeScript type for clients. All names are written as string literals: a program may come from a stranger.
 */

const { EXACT, LPM, TERNARY, RANGE, OPTIONAL } = p4config.MatchField_MatchType;

const KINDS: Readonly<Record<number, string>> = {
  [EXACT]: 'exact',
  [LPM]: 'lpm',
  [TERNARY]: 'ternary',
  [RANGE]: 'range',
  [OPTIONAL]: 'optional',
};

/** Deepest type within another, and most types in all: P4Info may refer to itself. */
const MOST_DEPTH = 8;
const MOST_TYPES = 10_000;

interface Named {
  readonly preamble?: p4config.Preamble | undefined;
}

const nameOf = ({ preamble }: Named): string => preamble?.name ?? '';

/** A name as a literal that no file's end of line or quotation mark can leave. */
function literal(text: string): string {
  const inner = JSON.stringify(text)
    .slice(1, -1)
    .replace(/\\"/g, '"')
    .replace(/'/g, "\\'")
    .replace(/\*\//g, '*\\/')
    .replace(/[\u007f-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `'${inner}'`;
}

const key = (text: string): string => (/^[A-Za-z_]\w*$/.test(text) && text !== '__proto__' ? text : literal(text));

const union = (names: readonly string[]): string => (names.length === 0 ? 'never' : names.map(literal).join(' | '));

/** Words as a comment. */
function comment(text: string): string {
  const words = text.replace(/\s+/g, ' ').replace(/\*\//g, '* /').trim();
  return words === '' ? '' : `/** ${words} */ `;
}

function block(entries: readonly string[], indent: string): string {
  if (entries.length === 0) return 'Record<never, never>';
  return `{\n${entries.map((each) => `${indent}  ${each};\n`).join('')}${indent}}`;
}

const widthOf = (bitwidth: number): string => (bitwidth === 0 ? 'text' : bitwidth === 1 ? '1 bit' : `${bitwidth} bits`);

function matchOf(fields: readonly p4config.MatchField[], indent: string): string {
  const entries = fields.flatMap(({ name, bitwidth, match }) => {
    const kind = match.case === 'matchType' ? KINDS[match.value] : undefined;
    return kind === undefined ? [] : [`${comment(widthOf(bitwidth))}${key(name)}: '${kind}'`];
  });
  return block(entries, indent);
}

/** The shortest ends of names that no other name has. */
function shortNames(names: readonly string[], indent: string): string {
  const entries = names.flatMap((name) => {
    const parts = name.split('.');
    for (let count = 1; count < parts.length; count++) {
      const end = parts.slice(-count).join('.');
      if (names.every((other) => other === name || (other !== end && !other.endsWith(`.${end}`)))) {
        return [`${key(end)}: ${literal(name)}`];
      }
    }
    return [];
  });
  return block(entries, indent);
}

function tableOf(
  table: p4config.Table,
  actions: ReadonlyMap<number, string>,
  profiles: ReadonlyMap<number, p4config.ActionProfile>,
): string {
  const { DEFAULT_ONLY, TABLE_ONLY } = p4config.ActionRef_Scope;
  const refs = (but: p4config.ActionRef_Scope): string =>
    union(table.actionRefs.filter(({ scope }) => scope !== but).map(({ id }) => actions.get(id) ?? ''));
  const profile = profiles.get(table.implementationId);
  const indent = '    ';
  const entries = [
    `match: ${matchOf(table.matchFields, `${indent}  `)}`,
    `short: ${shortNames(
      table.matchFields.map(({ name }) => name),
      `${indent}  `,
    )}`,
    `actions: ${refs(DEFAULT_ONLY)}`,
    `defaults: ${refs(TABLE_ONLY)}`,
    `profile: ${profile === undefined ? "'none'" : profile.withSelector ? "'groups'" : "'members'"}`,
  ];
  return `${comment(table.preamble?.doc?.brief ?? '')}${key(nameOf(table))}: ${block(entries, indent)}`;
}

/** The type of data: as they are written, or as they are read. */
function dataOf(
  spec: p4config.P4DataTypeSpec | undefined,
  types: p4config.P4TypeInfo | undefined,
  isRead: boolean,
  budget: { left: number },
  depth = 0,
): string {
  const bits = isRead ? 'bigint' : 'Value';
  const type = spec?.typeSpec;
  if (depth > MOST_DEPTH || --budget.left < 0) return 'Data';
  const inner = (each: p4config.P4DataTypeSpec | undefined): string => dataOf(each, types, isRead, budget, depth + 1);
  const members = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
    map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
  switch (type?.case) {
    case 'bitstring':
      return type.value.typeSpec.case === 'varbit' && isRead ? 'Uint8Array' : bits;
    case 'bool':
      return 'boolean';
    case 'tuple':
      return `readonly [${type.value.members.map(inner).join(', ')}]`;
    case 'struct': {
      const found = members(types?.structs, type.value.name)?.members ?? [];
      return `{ ${found.map(({ name, typeSpec }) => `readonly ${key(name)}: ${inner(typeSpec)}`).join('; ')} }`;
    }
    case 'header': {
      const found = members(types?.headers, type.value.name)?.members ?? [];
      return `{ ${found.map(({ name }) => `readonly ${key(name)}: ${bits}`).join('; ')} } | null`;
    }
    case 'enum':
      return union((members(types?.enums, type.value.name)?.members ?? []).map(({ name }) => name));
    case 'serializableEnum':
      return bits;
    default:
      return 'Data';
  }
}

function metadataOf(info: p4config.P4Info, name: string, isRead: boolean): string {
  const header = info.controllerPacketMetadata.find((each) => nameOf(each) === name);
  const entries = (header?.metadata ?? []).map(({ name: field, bitwidth, annotations }) => {
    const isPadding = !isRead && annotations.some((text) => text.startsWith('@padding'));
    const type = isRead ? (bitwidth === 0 ? 'string' : 'bigint') : 'Value';
    return `${comment(widthOf(bitwidth))}${key(field)}${isPadding ? '?' : ''}: ${type}`;
  });
  return block(entries, '  ');
}

/** Shorter names of all objects: the aliases of P4Info. */
function aliasesOf(info: p4config.P4Info): string {
  const { tables, actions, actionProfiles, counters, meters, registers, valueSets, digests } = info;
  const all: readonly Named[] = [
    ...tables,
    ...actions,
    ...actionProfiles,
    ...counters,
    ...meters,
    ...registers,
    ...valueSets,
    ...digests,
  ];
  const short = new Map<string, string>();
  for (const { preamble } of all) {
    const { name = '', alias = '' } = preamble ?? {};
    if (alias !== '' && alias !== name) short.set(alias, name);
  }
  return block(
    [...short].map(([alias, name]) => `${key(alias)}: ${literal(name)}`),
    '  ',
  );
}

/**
 * The TypeScript type of a program for `P4RuntimeClient`: a module that exports it.
 *
 * @param name of the type
 * @throws RangeError if the name is no identifier
 */
export function programTypes(info: p4config.P4Info, name: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) throw new RangeError(`${JSON.stringify(name)} is no name of a type`);
  const budget = { left: MOST_TYPES };
  const actions = new Map(info.actions.map((action) => [action.preamble?.id ?? 0, nameOf(action)]));
  const profiles = new Map(info.actionProfiles.map((profile) => [profile.preamble?.id ?? 0, profile]));
  const members = ({ tableIds }: p4config.ActionProfile): string => {
    const refs = info.tables
      .filter(({ preamble }) => tableIds.includes(preamble?.id ?? 0))
      .flatMap((t) => t.actionRefs);
    const entries = refs.filter(({ scope }) => scope !== p4config.ActionRef_Scope.DEFAULT_ONLY);
    return union([...new Set(entries.map(({ id }) => actions.get(id) ?? ''))]);
  };
  const parts = {
    tables: block(
      info.tables.map((table) => tableOf(table, actions, profiles)),
      '  ',
    ),
    actions: block(
      info.actions.map((action) => {
        const params = action.params.map((each) => `${comment(widthOf(each.bitwidth))}${key(each.name)}: Value`);
        return `${comment(action.preamble?.doc?.brief ?? '')}${key(nameOf(action))}: ${block(params, '    ')}`;
      }),
      '  ',
    ),
    profiles: block(
      info.actionProfiles.map((profile) => `${key(nameOf(profile))}: ${members(profile)}`),
      '  ',
    ),
    counters: union(info.counters.map(nameOf)),
    meters: union(info.meters.map(nameOf)),
    registers: block(
      info.registers.map((register) => {
        const type = dataOf(register.typeSpec, info.typeInfo, false, budget);
        return `${comment(`${register.size} cells`)}${key(nameOf(register))}: ${type}`;
      }),
      '  ',
    ),
    valueSets: block(
      info.valueSets.map((set) => `${key(nameOf(set))}: ${matchOf(set.match, '    ')}`),
      '  ',
    ),
    digests: block(
      info.digests.map((digest) => `${key(nameOf(digest))}: ${dataOf(digest.typeSpec, info.typeInfo, true, budget)}`),
      '  ',
    ),
    packetIn: metadataOf(info, 'packet_in', true),
    packetOut: metadataOf(info, 'packet_out', false),
    short: aliasesOf(info),
  };
  const body = Object.entries(parts)
    .map(([part, text]) => `  ${part}: ${text};\n`)
    .join('');
  const used = ['Data', 'Value'].filter((type) => new RegExp(`: (?:readonly \\[)?${type}\\b`).test(body));
  const imports = used.length === 0 ? '' : `import type { ${used.join(', ')} } from '@int/p4runtime';\n\n`;
  return `${imports}/** Written by \`int p4 info --types\` from P4Info: for \`P4RuntimeClient<${name}>\`. */\nexport type ${name} = {\n${body}};\n`;
}
