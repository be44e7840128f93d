/** What the filter of the live view looks at. */
export interface Searched {
  /** Switches, by their ids. */
  readonly switches: readonly (number | null)[];
  /** Names of switches and rules, addresses. */
  readonly words: readonly (string | null)[];
}

/** Whether an entry passes. A number is the id of a switch; anything else is a part of a name or an address. */
export function passes(filter: string, { switches, words }: Searched): boolean {
  const wanted = filter.trim().toLowerCase();
  if (wanted === '') return true;
  if (/^\d+$/.test(wanted)) return switches.includes(Number(wanted));
  return words.some((word) => word?.toLowerCase().includes(wanted) === true);
}
