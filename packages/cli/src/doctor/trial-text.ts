/** What `int doctor` found, as a device profile for people and files, and as JSON. */
import type { DeviceSpec, DialectTrial } from '@int/network';
import { counted, grouped, percent } from '../output/numbers.js';

/** A device profile that --device takes, with what was found and what is not sure as comments. */
export function trialLines(trial: DialectTrial): string[] {
  const { device, ok, telemetry, frames, explained, doubts } = trial;
  const plain = frames - telemetry;
  const others = plain === 0 ? '' : `; ${grouped(plain)} of ${counted(frames, 'frame')} show none`;
  const found = `# ${grouped(ok)} of ${counted(telemetry, 'frame')} with telemetry read so (${percent(explained)})${others}`;
  return [
    found,
    'version: 1',
    ...deviceLines(device!),
    ...(doubts.length === 0 ? [] : ['# not sure:', ...doubts.map((doubt) => `# - ${doubt}`)]),
  ];
}

function deviceLines(device: DeviceSpec): string[] {
  const entries = Object.entries(device);
  if (entries.length === 0) return ['device: {} # the defaults read it'];
  return ['device:', ...entries.map(([name, value]) => `  ${name}: ${yamlText(value)}`)];
}

/** A value of a device profile in YAML. Text in which a reader could see a number is quoted. */
function yamlText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(', ')}]`;
  if (typeof value === 'string') return /^\d/.test(value) ? `'${value}'` : value;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{ ${Object.entries(value)
    .map(([name, each]) => `${name}: ${yamlText(each)}`)
    .join(', ')} }`;
}

/** The object of --json. A setting of `best` is `null` where the decoder's default reads the sample. */
export function trialJson(trial: DialectTrial): object {
  const { device, explained, frames, telemetry, ok, doubts, tried } = trial;
  return {
    best:
      device === null
        ? null
        : {
            profile: device.profile ?? 'spec',
            intPorts: device.intPorts ?? null,
            intDscp: device.intDscp ?? null,
            reportPorts: device.reportPorts ?? null,
            greProtocol: device.greProtocol ?? null,
            probeMarker: device.probeMarker ?? null,
            units: device.units ?? {},
          },
    explained,
    frames,
    telemetry,
    ok,
    doubts,
    tried: tried.map((each) => ({ profile: each.profile, explained: each.explained })),
  };
}
