import type { Data } from '../entities/data.js';
import type {
  ActionCall,
  CloneSession,
  CounterEntry,
  DigestEntry,
  DirectCounterEntry,
  DirectMeterEntry,
  Entity,
  EntryAction,
  MeterEntry,
  MulticastGroup,
  ProfileGroup,
  ProfileMember,
  ReadTableEntry,
  RegisterEntry,
  TableEntry,
  ValueSetEntry,
  WeightedAction,
} from '../entities/entity.js';
import type { MatchBy, MatchInput } from '../entities/match.js';
import type { Value } from '../values/parse-value.js';
import type { DigestList, PacketIn } from './client-events.js';

/*
 * The names and types of one program, for a client that the compiler checks. `int p4 info FILE.p4 --types` writes them.
 */

type MatchKind = 'exact' | 'lpm' | 'ternary' | 'range' | 'optional';

/** A table. */
export interface TableTypes {
  /** Kinds of the key's fields by their names. */
  readonly match: { readonly [field: string]: MatchKind };
  /** Full names of fields by shorter ones. */
  readonly short: { readonly [field: string]: string };
  /** Names of the actions of entries. */
  readonly actions: string;
  /** Names of the actions of the default entry. */
  readonly defaults: string;
  /** Whether its entries refer to members, or also to groups and sets, of an action profile. */
  readonly profile: 'none' | 'members' | 'groups';
}

/** A program: objects by their full names. */
export interface ProgramTypes {
  readonly tables: { readonly [table: string]: TableTypes };
  /** Values of parameters by name. */
  readonly actions: { readonly [action: string]: object };
  /** Names of the actions of members. */
  readonly profiles: { readonly [profile: string]: string };
  readonly counters: string;
  readonly meters: string;
  /** Types of cells. */
  readonly registers: { readonly [register: string]: unknown };
  /** Kinds of fields by name. */
  readonly valueSets: { readonly [valueSet: string]: { readonly [field: string]: MatchKind } };
  /** Types of messages as they are read. */
  readonly digests: { readonly [digest: string]: unknown };
  /** Values of the headers of packets to and from the controller. */
  readonly packetIn: object;
  readonly packetOut: object;
  /** Full names by shorter ones. */
  readonly short: { readonly [name: string]: string };
}

/** Any program: names are not checked. */
export interface AnyProgram extends ProgramTypes {
  readonly actions: { readonly [action: string]: Readonly<Record<string, Value>> };
  readonly registers: { readonly [register: string]: Data };
  readonly digests: { readonly [digest: string]: Data };
  readonly packetIn: Readonly<Record<string, bigint | string>>;
  readonly packetOut: Readonly<Record<string, Value>>;
}

type IsAny<P extends ProgramTypes> = string extends keyof P['tables'] ? true : false;

/** Shorter names of some full names. */
type ShortOf<Short, Full> = { [S in keyof Short]: Short[S] extends Full ? S : never }[keyof Short];

type FullOf<Short, Name> = Name extends keyof Short ? Short[Name] : Name;

/** What a name may be, of objects with these full names. */
type NameOf<P extends ProgramTypes, Full> = (Full | ShortOf<P['short'], Full>) & string;

export type TableName<P extends ProgramTypes> = NameOf<P, keyof P['tables']>;

type TableOf<P extends ProgramTypes, T> = P['tables'][FullOf<P['short'], T> & keyof P['tables']];

/** What a field of a kind takes. */
type FieldInput<Kind> = Value | MatchBy<'exact' | Kind> | (Kind extends 'ternary' ? MatchBy<'lpm'> : never);

type Named<Fields> = {
  readonly [F in keyof Fields as Fields[F] extends 'exact' ? F : never]: FieldInput<Fields[F]>;
} & { readonly [F in keyof Fields as Fields[F] extends 'exact' ? never : F]?: FieldInput<Fields[F]> };

/** Kinds by shorter names, or by full names where there are none. */
type Shortened<Table extends TableTypes> = {
  [F in keyof Table['match'] as [ShortOf<Table['short'], F>] extends [never]
    ? F
    : ShortOf<Table['short'], F>]: Table['match'][F];
};

/** The matches of an entry: all by full names, or all by short names. */
export type MatchOf<P extends ProgramTypes, T> =
  IsAny<P> extends true
    ? Readonly<Record<string, MatchInput>>
    : Named<TableOf<P, T>['match']> | Named<Shortened<TableOf<P, T>>> | Readonly<Record<string, never>>;

/** The actions that an entry of a table may have; of the default entry, too. */
export type ActionName<P extends ProgramTypes, T> = NameOf<P, TableOf<P, T>['actions'] | TableOf<P, T>['defaults']>;

export type ParamsOf<P extends ProgramTypes, A> = P['actions'][FullOf<P['short'], A> & keyof P['actions']];

/** A call of one of some actions. */
type CallOf<P extends ProgramTypes, Full> = {
  [A in NameOf<P, Full>]: { readonly action: A; readonly params: ParamsOf<P, A> };
}[NameOf<P, Full>];

type OneShotOf<P extends ProgramTypes, Full> = {
  readonly oneShot: readonly (CallOf<P, Full> & Omit<WeightedAction, keyof ActionCall>)[];
};

/** What an entry does, written out. */
export type EntryActionOf<P extends ProgramTypes, T> =
  IsAny<P> extends true
    ? EntryAction
    : TableOf<P, T>['profile'] extends 'none'
      ? CallOf<P, TableOf<P, T>['actions'] | TableOf<P, T>['defaults']>
      :
          | { readonly member: number }
          | (TableOf<P, T>['profile'] extends 'groups'
              ? { readonly group: number } | OneShotOf<P, TableOf<P, T>['actions']>
              : never);

/** What follows an action in the arguments of `entry`: its parameters, and options. */
export type RestOf<P extends ProgramTypes, A, Options> = A extends string
  ? string extends A
    ? [params?: Readonly<Record<string, Value>>, options?: Options]
    : Record<never, never> extends ParamsOf<P, A>
      ? [params?: ParamsOf<P, A>, options?: Options]
      : [params: ParamsOf<P, A>, options?: Options]
  : [params?: Readonly<Record<string, never>>, options?: Options];

/** An entry of a table. */
export type TableEntryOf<P extends ProgramTypes, T> =
  IsAny<P> extends true
    ? TableEntry
    : Omit<TableEntry, 'table' | 'match' | 'action'> & {
        readonly table: T;
        readonly match: MatchOf<P, T>;
        readonly action?: EntryActionOf<P, T> | undefined;
      };

/** Entries of all tables. */
type AnyEntryOf<P extends ProgramTypes> = { [T in TableName<P>]: TableEntryOf<P, T> }[TableName<P>];

type ReadValues<Params> = { readonly [Name in keyof Params]: bigint | string };

type ReadActionOf<P extends ProgramTypes, Table extends TableTypes> = Table['profile'] extends 'none'
  ? {
      [A in Table['actions'] | Table['defaults']]: {
        readonly action: A;
        readonly params: ReadValues<P['actions'][A & keyof P['actions']]>;
      };
    }[Table['actions'] | Table['defaults']]
  : Exclude<EntryAction, ActionCall>;

type ReadMatch<Fields> = {
  readonly [F in keyof Fields as Fields[F] extends 'exact' ? F : never]: MatchBy<Fields[F]>;
} & { readonly [F in keyof Fields as Fields[F] extends 'exact' ? never : F]?: MatchBy<Fields[F]> };

/** An entry as it is read: full names, and matches by the kinds of their fields. */
export type ReadEntryOf<P extends ProgramTypes, T> =
  IsAny<P> extends true
    ? ReadTableEntry
    : Omit<ReadTableEntry, 'table' | 'match' | 'action'> & {
        readonly table: FullOf<P['short'], T>;
        readonly match: ReadMatch<TableOf<P, T>['match']>;
        readonly action?: ReadActionOf<P, TableOf<P, T>> | undefined;
      };

type MemberOf<P extends ProgramTypes> = {
  [N in NameOf<P, keyof P['profiles']>]: Omit<ProfileMember, 'profile' | 'action'> & {
    readonly profile: N;
    readonly action?: CallOf<P, P['profiles'][FullOf<P['short'], N> & keyof P['profiles']]> | undefined;
  };
}[NameOf<P, keyof P['profiles']>];

type RegisterOf<P extends ProgramTypes> = {
  [N in NameOf<P, keyof P['registers']>]: Omit<RegisterEntry, 'register' | 'value'> & {
    readonly register: N;
    readonly value?: P['registers'][FullOf<P['short'], N> & keyof P['registers']] | undefined;
  };
}[NameOf<P, keyof P['registers']>];

type ValueSetOf<P extends ProgramTypes> = {
  [N in NameOf<P, keyof P['valueSets']>]: Omit<ValueSetEntry, 'valueSet' | 'members'> & {
    readonly valueSet: N;
    readonly members: readonly Named<P['valueSets'][FullOf<P['short'], N> & keyof P['valueSets']]>[];
  };
}[NameOf<P, keyof P['valueSets']>];

/** Everything that can be written. */
export type EntityOf<P extends ProgramTypes> =
  IsAny<P> extends true
    ? Entity
    :
        | AnyEntryOf<P>
        | MemberOf<P>
        | (Omit<ProfileGroup, 'profile'> & { readonly profile: NameOf<P, keyof P['profiles']> })
        | (Omit<CounterEntry, 'counter'> & { readonly counter: NameOf<P, P['counters']> })
        | (Omit<MeterEntry, 'meter'> & { readonly meter: NameOf<P, P['meters']> })
        | (Omit<DirectCounterEntry, 'entry'> & { readonly entry: AnyEntryOf<P> })
        | (Omit<DirectMeterEntry, 'entry'> & { readonly entry: AnyEntryOf<P> })
        | RegisterOf<P>
        | ValueSetOf<P>
        | MulticastGroup
        | CloneSession
        | (Omit<DigestEntry, 'digest'> & { readonly digest: NameOf<P, keyof P['digests']> });

/** An update of an entity. */
export interface UpdateOf<P extends ProgramTypes> {
  readonly type: 'insert' | 'modify' | 'delete';
  readonly entity: EntityOf<P>;
}

/** A packet to the controller. */
export type PacketInOf<P extends ProgramTypes> =
  IsAny<P> extends true ? PacketIn : Omit<PacketIn, 'metadata'> & { readonly metadata: P['packetIn'] };

/** A list of a digest's messages. */
export type DigestListOf<P extends ProgramTypes> =
  IsAny<P> extends true
    ? DigestList
    : {
        [D in keyof P['digests']]: Omit<DigestList, 'digest' | 'data'> & {
          readonly digest: D;
          readonly data: readonly P['digests'][D][];
        };
      }[keyof P['digests']];

/** The header of a packet from the controller. */
export type PacketOutOf<P extends ProgramTypes> =
  Record<never, never> extends P['packetOut'] ? [metadata?: P['packetOut']] : [metadata: P['packetOut']];
