/** One address tries the ports of a server, which resets those that are not open. */
import { FLAG, HOSTS, type HostName, tcpOf, scan as tryPorts } from '@int/example-closed-loop';
import { msToNote, playScene, type Scene, type Values } from './scenario.js';

const SECONDS = 4;
const SCANNER = '198.51.100.7';
/** Four times as likely with each failure, a quarter with each success: the ninth failure more than successes convicts. */
const FAILURES = 9;

export const scan = (seed: number): Promise<Values> => playScene('scan', seed, 2, play);

async function play({ loop, random }: Scene): Promise<Values> {
  const { network, links } = loop.fabric;
  const victim: HostName = random.integer(2) === 0 ? 'web' : 'files';
  const link = links.get(`leaf${HOSTS[victim].leaf}:${victim}`)!;
  const offsetMs = loop.nowMs - network.nowNs / 1e6;
  let more = 0;
  let convictedMs = Number.NaN;
  network.tap(link, 'ba', (frame, timeNs) => {
    const packet = tcpOf(frame);
    if (packet?.destination !== SCANNER || packet.flags === null) return;
    more += (packet.flags & FLAG.RST) !== 0 ? 1 : -1;
    if (more === FAILURES && Number.isNaN(convictedMs)) convictedMs = offsetMs + timeNs / 1e6;
  });
  const probes: number[] = [];
  network.tap(link, 'ab', (frame, timeNs) => {
    if (tcpOf(frame)?.source === SCANNER) probes.push(offsetMs + timeNs / 1e6);
  });
  const beganMs = loop.nowMs;
  // In some of the seeds a port that is open is among the first.
  const stop = tryPorts(loop.fabric, victim, 5 + 25 * random.uniform(), 60 + random.integer(60));
  await loop.seconds(SECONDS);
  stop();
  const blocked = msToNote(loop, beganMs, ['block'], 'installed');
  const hasConvicted = !Number.isNaN(convictedMs);
  return {
    convicted: hasConvicted ? convictedMs - beganMs : null,
    blocked: blocked === null || !hasConvicted ? null : beganMs + blocked - convictedMs,
    passed: blocked === null ? null : probes.filter((atMs) => atMs > beganMs + blocked).length,
  };
}
