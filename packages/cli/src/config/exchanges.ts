/** Sources of a new configuration that need the address of an old one. */
import type { SourceExchange } from '@int/collector';
import { parseUdpAddress } from '@int/collector/internals';
import type { SourceConfig } from './config.js';
import { type ConfigInput, type InputContext, inputLike } from './inputs.js';
import type { ReadConfig } from './read-config.js';

const ANY: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Whether two sources cannot be open at the same time. */
export function share(a: SourceConfig, b: SourceConfig): boolean {
  if (a.udp !== undefined && b.udp !== undefined) {
    const [one, other] = [parseUdpAddress(`udp://${a.udp.listen}`), parseUdpAddress(`udp://${b.udp.listen}`)];
    const isOneHost = one.host === other.host || ANY.has(one.host) || ANY.has(other.host);
    return one.port !== 0 && one.port === other.port && isOneHost;
  }
  // An interface has one program.
  if (a.afxdp !== undefined && b.afxdp !== undefined) return a.afxdp.interface === b.afxdp.interface;
  if (a.kafka === undefined || b.kafka === undefined) return false;
  // Two members of a group would share the partitions, only to have them given to one a moment later.
  const of = ({ topic = 'int.reports', group = 'int-collect' }: typeof a.kafka): string =>
    JSON.stringify([topic, group]);
  return of(a.kafka) === of(b.kafka);
}

/**
 * The new sources that can open only after old ones have closed.
 * @param read the old configuration, by which an old source can be made again
 * @param context what the old sources were made with
 * @throws CliError (rejects)
 */
export async function exchangesOf(
  read: ReadConfig,
  before: ConfigInput,
  after: ConfigInput,
  context: InputContext,
): Promise<SourceExchange[]> {
  const exchanges: SourceExchange[] = [];
  for (const { config, input } of before.parts) {
    if (after.parts.some((part) => part.input === input)) continue;
    const next = after.parts.find(
      (part) => !before.parts.some((old) => old.input === part.input) && share(config, part.config),
    );
    if (next === undefined) continue;
    const back = await inputLike(read, config, context);
    for (const [at, old] of input.sources.entries()) {
      const by = next.input.sources[Math.min(at, next.input.sources.length - 1)]!;
      const onBack = (isOpen: boolean): void => before.replace(input, isOpen ? back : null);
      exchanges.push({ old, by, back: back.sources[at]!, onBack });
    }
  }
  return exchanges;
}
