/** How far a pipeline goes. Each stage does what those before it do, and something more; the last two are alternatives. */
export const STAGES = ['receive', 'decode', 'detect', 'flows', 'message', 'kafka', 'parquet'] as const;
export type StageName = (typeof STAGES)[number];

/** The stage whose costs are taken off to have those of a stage alone; `null`: nothing. */
export const BEFORE: Readonly<Record<StageName, StageName | null>> = {
  receive: null,
  decode: 'receive',
  detect: 'decode',
  flows: 'detect',
  message: 'flows',
  kafka: 'message',
  parquet: 'flows',
};

export const SOURCES = ['udp', 'afxdp'] as const;
export type SourceName = (typeof SOURCES)[number];

export function stageOf(name: string): StageName {
  const found = STAGES.find((each) => each === name);
  if (found === undefined) throw new TypeError(`not ${STAGES.join(', ')}: ${name}`);
  return found;
}
