/** Types of a valid int.yaml; they match schema/int.schema.json. */
import type { MetricName } from '@int/codec';
import type { RecordKind } from '@int/collector';
import type { StateMode } from '@int/detect';
import type { ThresholdOptions } from '@int/flowcache';
import type { DeviceSpec } from '@int/network';
import type { OnDown } from '../input/link-words.js';
import type { Quantity } from './quantities.js';

export interface TlsConfig {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
}

export interface SaslConfig {
  readonly mechanism?: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
  readonly username: string;
  readonly password: string;
}

export interface RetryConfig {
  readonly first?: Quantity;
  readonly longest?: Quantity;
}

/** Fields common to sources whose frames have a sender. */
export interface SendersConfig {
  /** Who may send: addresses and prefixes. */
  readonly from?: readonly string[];
}

export interface UdpConfig extends SendersConfig {
  readonly listen: string;
  readonly receiveBuffer?: Quantity;
  readonly slabs?: number;
}

export interface AfxdpConfig extends SendersConfig {
  readonly interface: string;
  readonly queues?: string | number;
  readonly mode?: 'auto' | 'driver' | 'generic';
  readonly prefilter?: boolean;
  readonly onDown?: OnDown;
}

export interface PcapConfig extends SendersConfig {
  readonly file: string;
  readonly speed?: number;
}

export interface KafkaSourceConfig {
  readonly brokers: readonly string[];
  readonly topic?: string;
  readonly group?: string;
  readonly from?: 'earliest' | 'latest';
  readonly format?: 'auto' | 'protobuf' | 'json';
  readonly tls?: TlsConfig;
  readonly sasl?: SaslConfig;
}

/** Exactly one of the members is present. */
export interface SourceConfig {
  readonly udp?: UdpConfig;
  readonly afxdp?: AfxdpConfig;
  readonly pcap?: PcapConfig;
  readonly kafka?: KafkaSourceConfig;
}

/** How packets are decoded: members of `device` that may stand by themselves. */
export type DecodeConfig = Omit<DeviceSpec, 'units' | 'switches' | 'sources'>;

export interface DetectConfig {
  readonly rules: string;
  readonly state?: StateMode;
  readonly flowCells?: number;
  readonly switchCells?: number;
  readonly idle?: Quantity;
}

export interface FlowsConfig {
  readonly rows?: number;
  readonly buckets?: number;
  readonly hops?: number;
  readonly metrics?: readonly MetricName[];
  readonly idle?: Quantity;
  readonly thresholds?: ThresholdOptions;
}

export interface DartConfig {
  readonly store: string;
  readonly memory?: Quantity;
  readonly copies?: number;
  readonly valueBytes?: number;
  readonly checksumBits?: number;
  readonly values?: 'path' | readonly MetricName[];
}

/** Fields common to all sinks of records. */
interface RecordsConfig {
  readonly name?: string;
  readonly records?: readonly RecordKind[];
  readonly whenFull?: 'wait' | 'drop';
}

export interface KafkaSinkConfig extends RecordsConfig {
  readonly brokers: readonly string[];
  readonly prefix?: string;
  readonly format?: 'protobuf' | 'json';
  readonly compression?: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd';
  readonly partitions?: number;
  readonly replicas?: number;
  readonly batch?: Quantity;
  readonly retry?: RetryConfig;
  readonly memory?: Quantity;
  readonly linger?: Quantity;
  readonly durability?: 'memory' | 'spool';
  readonly spool?: {
    readonly directory: string;
    readonly limit?: Quantity;
    readonly sync?: 'never' | 'segment' | 'chunk';
    readonly commit?: Quantity;
  };
  readonly tls?: TlsConfig;
  readonly sasl?: SaslConfig;
}

export interface ParquetSinkConfig extends RecordsConfig {
  readonly directory: string;
  readonly rotate?: { readonly rows?: number; readonly bytes?: Quantity; readonly age?: Quantity };
  readonly retention?: { readonly age?: Quantity; readonly bytes?: Quantity };
  readonly compression?: 'zstd' | 'snappy' | 'lz4' | 'none';
  readonly memory?: Quantity;
}

export interface PrometheusConfig {
  readonly listen: string;
  readonly allowHosts?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly prefix?: string;
  readonly switches?: number;
  readonly queues?: number;
  readonly interfaces?: number;
  readonly reporters?: number;
}

export interface OpenSearchSinkConfig extends RecordsConfig {
  readonly nodes: readonly string[];
  readonly username?: string;
  readonly password?: string;
  readonly apiKey?: string;
  readonly bearer?: string;
  readonly tls?: TlsConfig;
  readonly prefix?: string;
  readonly rotation?: 'day' | 'month' | 'none';
  readonly gzip?: number;
  readonly batch?: Quantity;
  readonly memory?: Quantity;
  readonly linger?: Quantity;
  readonly requestTimeout?: Quantity;
  readonly retry?: RetryConfig;
}

export interface RedisSinkConfig extends RecordsConfig {
  readonly url?: string;
  readonly username?: string;
  readonly password?: string;
  readonly database?: number;
  readonly prefix?: string;
  readonly writer?: string;
  readonly keep?: Quantity;
  readonly maxFlows?: number;
  readonly retry?: RetryConfig;
}

/** Exactly one of the members is present. */
export interface SinkConfig {
  readonly kafka?: KafkaSinkConfig;
  readonly parquet?: ParquetSinkConfig;
  readonly prometheus?: PrometheusConfig;
  readonly opensearch?: OpenSearchSinkConfig;
  readonly redis?: RedisSinkConfig;
}

/** The page that shows the network. */
export interface DashboardConfig {
  readonly listen?: string;
  readonly tokenFile?: string;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly allowHosts?: readonly string[];
  readonly readOnly?: boolean;
  /** Capture files that may be replayed. */
  readonly captures?: readonly string[];
  readonly retain?: { readonly time?: Quantity; readonly memory?: Quantity; readonly flows?: number };
}

export interface IntConfig {
  readonly version: 1;
  readonly sources: readonly SourceConfig[];
  /** A file with names, ports and links. */
  readonly topology?: string;
  readonly keepUnknownSwitches?: boolean;
  readonly decode?: DecodeConfig;
  readonly device?: DeviceSpec;
  readonly detect?: DetectConfig;
  readonly flows?: FlowsConfig;
  readonly dart?: DartConfig;
  readonly workers?: number;
  readonly drain?: Quantity;
  readonly dashboard?: DashboardConfig;
  readonly sinks?: readonly SinkConfig[];
}

export function nameOf(sink: SinkConfig): string {
  const [[kind, options]] = Object.entries(sink) as [[string, { readonly name?: string }]];
  return options.name ?? kind;
}
