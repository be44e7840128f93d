/** Text of a `log_msg`: each `{}` is replaced by the next value, in decimal; `\{` and `\}` are braces. */
export function formatLog(format: string, values: readonly (number | bigint | boolean | string)[]): string {
  let text = '';
  let next = 0;
  for (let at = 0; at < format.length; at++) {
    const char = format[at]!;
    if (char === '\\' && (format[at + 1] === '{' || format[at + 1] === '}')) {
      text += format[++at]!;
    } else if (char === '{') {
      const end = format.indexOf('}', at);
      if (end === -1) return text + format.slice(at);
      const value = values[next++];
      text += value === undefined ? format.slice(at, end + 1) : typeof value === 'boolean' ? Number(value) : value;
      at = end;
    } else text += char;
  }
  return text;
}
