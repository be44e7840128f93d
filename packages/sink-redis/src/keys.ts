import { type Flow, formatIpv4, formatIpv6, parseAddress } from '@int/codec';

/** Names of all keys that a sink writes. The README describes their contents. */
export class RedisKeys {
  /** Stream of events. With one stream per switch, the prefix of their names. */
  readonly events: string;
  /** Hash: events by switch, metric and kind. */
  readonly counts: string;
  /** Sorted set: flows by the time of their last report, in ms. */
  readonly flows: string;
  /** Stream of entries, if they are not merged into flows. */
  readonly entries: string;
  /** Stream of events of detectors. */
  readonly detected: string;

  /** @param prefix prefix without a colon at its end, such as `int` */
  constructor(readonly prefix: string) {
    this.events = `${prefix}:events`;
    this.counts = `${prefix}:counts`;
    this.flows = `${prefix}:flows`;
    this.entries = `${prefix}:entries`;
    this.detected = `${prefix}:detected`;
  }

  /**
   * Stream of the events of a switch.
   * @param scope a node id; `endToEnd` for events of whole paths; `unnamed` for hops without an id; `other` for
   *   switches beyond `maxSwitches`
   */
  eventsOf(scope: number | 'endToEnd' | 'unnamed' | 'other'): string {
    return `${this.events}:${scope}`;
  }

  /** Hash: the merged entries of a flow that have left the cache. */
  flow(flow: Flow | string): string {
    return `${this.prefix}:flow:${typeof flow === 'string' ? flow : flowText(flow)}`;
  }

  /** Hash: the flow's current entry in the cache, as last written. */
  live(flow: Flow | string): string {
    return `${this.prefix}:live:${typeof flow === 'string' ? flow : flowText(flow)}`;
  }

  /** Hash: the last values written under a name. */
  values(name: string): string {
    return `${this.prefix}:values:${name}`;
  }

  /** Hash: the state of a writer, with the last batch applied. */
  writer(id: string): string {
    return `${this.prefix}:writer:${id}`;
  }
}

function addressText(text: string): string {
  const { version, words } = parseAddress(text);
  return version === 4 ? formatIpv4(words[0]!) : `[${formatIpv6(words[0]!, words[1]!, words[2]!, words[3]!)}]`;
}

/**
 * The name of a flow in keys and fields: `10.0.1.1:5000-10.0.2.2:80/17` (source, destination, protocol),
 * `[2001:db8::1]:5000-[2001:db8::2]:80/17` for IPv6. Addresses are in their canonical form.
 *
 * @throws AddressError of the codec for an invalid address
 */
export function flowText(flow: Flow): string {
  const { source, sourcePort, destination, destinationPort, protocol } = flow;
  return `${addressText(source)}:${sourcePort}-${addressText(destination)}:${destinationPort}/${protocol}`;
}

const FLOW = /^(?:\[([\da-f:.]+)\]|([\d.]+)):(\d+)-(?:\[([\da-f:.]+)\]|([\d.]+)):(\d+)\/(\d+)$/;

/** Parses a text of {@link flowText}. @throws SyntaxError for another text */
export function parseFlowText(text: string): Flow {
  const [, source6, source4, sourcePort, destination6, destination4, destinationPort, protocol] = FLOW.exec(text) ?? [];
  const source = source6 ?? source4;
  const destination = destination6 ?? destination4;
  if (source === undefined || destination === undefined) {
    throw new SyntaxError(`not the name of a flow: ${JSON.stringify(text.slice(0, 128))}`);
  }
  return {
    source,
    destination,
    protocol: Number(protocol),
    sourcePort: Number(sourcePort),
    destinationPort: Number(destinationPort),
  };
}
