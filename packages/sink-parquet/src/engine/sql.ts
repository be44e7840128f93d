/** A text as a literal of SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name as an identifier of SQL. */
export function identifier(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** A list of texts as a literal of SQL. */
export function list(texts: readonly string[]): string {
  return `[${texts.map(literal).join(', ')}]`;
}
