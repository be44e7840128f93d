/**
 * The scripts that run inside the server. Redis applies a script as a whole or, if it cannot write, not at all. With a
 * number per batch, sending a batch again is therefore harmless.
 *
 * Every batch is one call. Its arguments begin with session, number, outlet. The writer's hash holds the number of the
 * last batch applied, and a batch is applied only if its number is the next one:
 * - its number is not above the last: it was applied before;
 * - there is a gap: an earlier batch was not applied, so this one must wait;
 * - the session differs: another sink has taken over this writer id, or the server has lost its memory.
 *
 * The first write of a batch is its number, with `call`. Redis checks for OOM, MISCONF, READONLY and NOREPLICAS at a
 * script's first write, so these errors occur before anything is written, and never later. Later errors are caught: an
 * error such as a key of another type concerns a single record and is counted.
 */

/** The first value of a batch's reply. The outlet's total refused and incomplete records and the last reason follow. */
export const BATCH_REPLY = { APPLIED: 0, APPLIED_BEFORE: 1, GAP: 2, OTHER_SESSION: 3 } as const;

const BEGIN = `
local call, try = redis.call, redis.pcall
local writer, session, number, outlet = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local state = call('HMGET', writer, 'session', 'batch', outlet .. '.refused', outlet .. '.incomplete')
if state[1] ~= session then return {${BATCH_REPLY.OTHER_SESSION}, 0, 0, ''} end
local refused, incomplete, why = tonumber(state[3] or 0), tonumber(state[4] or 0), ''
local ahead = tonumber(number) - tonumber(state[2])
if ahead <= 0 then return {${BATCH_REPLY.APPLIED_BEFORE}, refused, incomplete, ''} end
if ahead > 1 then return {${BATCH_REPLY.GAP}, 0, 0, ''} end
call('HSET', writer, 'batch', number)
local refusedBefore, incompleteBefore = refused, incomplete
local function failed(reply)
  if type(reply) ~= 'table' or reply.err == nil then return false end
  why = reply.err
  return true
end
`;

const END = `
try('HINCRBY', writer, outlet, n - (refused - refusedBefore))
if refused > refusedBefore then try('HSET', writer, outlet .. '.refused', string.format('%d', refused)) end
if incomplete > incompleteBefore then try('HSET', writer, outlet .. '.incomplete', string.format('%d', incomplete)) end
return {${BATCH_REPLY.APPLIED}, refused, incomplete, why}
`;

/** Adds the counts of the batch: argument \`counts\` is a list of name and number. */
const COUNTS = `
local counted, at = ARGV[counts], 1
while at <= #counted do
  local field, count
  field, count, at = struct.unpack('Bc0Bc0', counted, at)
  if failed(try('HINCRBY', ARGV[counts - 1], field, count)) then incomplete = incomplete + tonumber(count) end
end
`;

/**
 * Arguments: session, number, outlet, stream, events, entries to keep in a stream (0: all), 1 for one stream per switch,
 * texts, key of the counts, counts.
 */
const EVENTS = `${BEGIN}
local stream, n, keep, texts, counts = ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[8], 10
local read, at = struct.unpack, 1
local streams = {}
local isPerSwitch = ARGV[7] == '1'
if not isPerSwitch then streams[stream] = true end
for _ = 1, n do
  local key = stream
  local time, kinds, metric, hop, node, value, previous, threshold, flow
  time, kinds, metric, hop, node, value, previous, threshold, flow, at =
    read('Bc0Bc0Bc0Bc0Bc0Bc0Bc0Bc0Bc0', texts, at)
  if isPerSwitch then
    local scope
    scope, at = read('Bc0', texts, at)
    key = stream .. ':' .. scope
    streams[key] = true
  end
  if failed(try('XADD', key, '*', 'time', time, 'kinds', kinds, 'metric', metric, 'hop', hop, 'node', node,
    'value', value, 'previous', previous, 'threshold', threshold, 'flow', flow)) then refused = refused + 1 end
end
if keep ~= '0' then
  for key in pairs(streams) do try('XTRIM', key, 'MAXLEN', '~', keep) end
end
${COUNTS}${END}`;

/**
 * Arguments: session, number, outlet, stream, records, stream entries to keep (0: all), layout, hops, metrics, records'
 * words, key of the counts, counts.
 */
const PACKED = `${BEGIN}
local n, counts = tonumber(ARGV[5]), 12
if failed(try('XADD', ARGV[4], '*', 'layout', ARGV[7], 'hops', ARGV[8], 'metrics', ARGV[9], 'count', ARGV[5],
  'records', ARGV[10])) then refused = refused + n end
if ARGV[6] ~= '0' then try('XTRIM', ARGV[4], 'MAXLEN', '~', ARGV[6]) end
${COUNTS}${END}`;

/**
 * Arguments: session, number, outlet, prefix, entries, metrics, ms to keep a flow (0: forever), flows to keep (0: all),
 * texts.
 *
 * Numbers of more than 15 digits are added in pieces, so that sums stay exact beyond the range of a double.
 */
const ENTRIES = `${BEGIN}
local prefix, n, keepMs, keepFlows, texts = ARGV[4], tonumber(ARGV[5]), ARGV[7], tonumber(ARGV[8]), ARGV[9]
local index, read, at = prefix .. ':flows', struct.unpack, 1
local format, match = string.format, string.match
local metrics = {}
for name in string.gmatch(ARGV[6], '[^,]+') do metrics[#metrics + 1] = name end
local hopFormat, hopFormats = string.rep('Bc0', 1 + #metrics), {}
local names = {}
local function namesOf(hop)
  local made = names[hop]
  if made == nil then
    made = {'hop.' .. hop - 1 .. '.node'}
    for _, name in ipairs(metrics) do made[#made + 1] = 'hop.' .. hop - 1 .. '.' .. name end
    names[hop] = made
    hopFormats[hop] = string.rep(hopFormat, hop)
  end
  return made
end

local function plus(a, b)
  if #a < 16 and #b < 16 then return format('%.0f', a + b) end
  local out, carry = '', 0
  repeat
    local sum = (tonumber(string.sub(a, -14)) or 0) + (tonumber(string.sub(b, -14)) or 0) + carry
    a, b = string.sub(a, 1, -15), string.sub(b, 1, -15)
    carry = sum >= 1e14 and 1 or 0
    local more = carry > 0 or #a > 0 or #b > 0
    out = format(more and '%014.0f' or '%.0f', sum - carry * 1e14) .. out
  until not more
  return out
end

local function less(a, b) return #a < #b or (#a == #b and a < b) end

-- Last, mean, count and sum in one text. A value that is not known is '-'.
local function statistics(old, new)
  if not old then return new end
  local oldLast, oldMean, oldCount, oldSum = match(old, '^([^ ]+) ([^ ]+) ([^ ]+) ([^ ]+)$')
  if not (oldSum and tonumber(oldMean) and tonumber(oldCount)) then
    error({err = 'ERR not the statistics of a metric: ' .. string.sub(old, 1, 64)})
  end
  local last, mean, count, sum = match(new, '^([^ ]+) ([^ ]+) ([^ ]+) ([^ ]+)$')
  if sum ~= '-' and oldSum ~= '-' then
    if #oldSum < 16 and #sum < 16 and #oldCount < 16 then
      count, sum = oldCount + count, oldSum + sum
      return format('%s %.12g %d %d', last, sum / count, count, sum)
    end
    count, sum = plus(oldCount, count), plus(oldSum, sum)
    return format('%s %.12g %s %s', last, sum / count, count, sum)
  end
  -- The compact layout has no sums.
  mean = (oldMean * oldCount + mean * count) / (oldCount + count)
  return format('%s %.12g %s -', last, mean, plus(oldCount, count))
end

local set, ask = {}, {}
local function store(flow, reason, packets, changes, length, beyond, first, last, path, endToEnd, seen, hops)
  local live = reason == 'live'
  local key = prefix .. (live and ':live:' or ':flow:') .. flow
  local known = {}
  if live then
    call('DEL', key)
  else
    ask[1], ask[2], ask[3], ask[4], ask[5], ask[6], ask[7], ask[8], ask[9] =
      'HMGET', key, 'packets', 'entries', 'pathChanges', 'first', 'last', 'hopsBeyond', 'endToEnd'
    local asked = 9
    for hop = 1, seen do
      local name = namesOf(hop)
      for metric = 2, #metrics + 1 do
        asked = asked + 1
        ask[asked] = name[metric]
      end
    end
    known = call(unpack(ask, 1, asked))
  end
  local old = known[1]
  local entries = '1'
  if old then
    packets, entries, changes = plus(old, packets), plus(known[2], '1'), plus(known[3], changes)
    if less(known[4], first) then first = known[4] end
    if less(last, known[5]) then last = known[5] end
    if known[6] and beyond ~= '' then beyond = plus(known[6], beyond) end
  end
  set[1], set[2], set[3], set[4], set[5], set[6], set[7], set[8], set[9], set[10], set[11], set[12], set[13], set[14],
    set[15], set[16], set[17], set[18] = 'HSET', key, 'packets', packets, 'entries', entries, 'pathChanges', changes,
    'first', first, 'last', last, 'pathLength', length, 'path', path, 'reason', reason
  local used = 18
  if beyond ~= '' then
    set[used + 1], set[used + 2] = 'hopsBeyond', beyond
    used = used + 2
  end
  if endToEnd ~= '' then
    set[used + 1], set[used + 2] = 'endToEnd', statistics(known[7], endToEnd)
    used = used + 2
  end
  local value, asked = 0, 7
  for hop = 1, seen do
    local name = namesOf(hop)
    value = value + 1
    set[used + 1], set[used + 2] = name[1], hops[value]
    used = used + 2
    for metric = 2, #metrics + 1 do
      value, asked = value + 1, asked + 1
      if hops[value] ~= '' then
        set[used + 1], set[used + 2] = name[metric], statistics(known[asked], hops[value])
        used = used + 2
      end
    end
  end
  call(unpack(set, 1, used))
  if keepMs ~= '0' then call('PEXPIRE', key, keepMs) end
  if not live then call('UNLINK', prefix .. ':live:' .. flow) end
  return last
end

for _ = 1, n do
  local flow, reason, packets, changes, length, beyond, first, last, path, endToEnd, seen, hops
  flow, reason, packets, changes, length, beyond, first, last, path, endToEnd, seen, at =
    read('<Bc0Bc0Bc0Bc0Bc0Bc0Bc0Bc0Hc0Bc0B', texts, at)
  if seen > 0 then
    namesOf(seen)
    hops = {read(hopFormats[seen], texts, at)}
    at = hops[#hops]
  end
  local ok, latest = pcall(store, flow, reason, packets, changes, length, beyond, first, last, path, endToEnd, seen, hops)
  if ok then
    local ms = #latest > 6 and string.sub(latest, 1, -7) or '0'
    if failed(try('ZADD', index, ms, flow)) then incomplete = incomplete + 1 end
  else
    refused = refused + 1
    why = type(latest) == 'table' and latest.err or tostring(latest)
  end
end

local function forget(flows)
  for _, flow in ipairs(flows) do
    try('UNLINK', prefix .. ':flow:' .. flow, prefix .. ':live:' .. flow)
    try('ZREM', index, flow)
  end
end
if keepFlows > 0 then
  local held = try('ZCARD', index)
  if type(held) == 'number' and held > keepFlows then
    -- A limited number, so that a new, lower limit does not occupy the server for long.
    local old = try('ZRANGE', index, '0', format('%d', math.min(held - keepFlows, 8 * n) - 1))
    if old.err == nil then
      forget(old)
      try('HINCRBY', writer, 'flows.forgotten', format('%d', #old))
    end
  end
end
if keepMs ~= '0' then
  -- Takes flows that have expired out of the index: the oldest ones, until some are still there.
  local oldest, there = try('ZRANGE', index, '0', format('%d', 4 * n)), 0
  if oldest.err == nil then
    for _, flow in ipairs(oldest) do
      if try('EXISTS', prefix .. ':flow:' .. flow, prefix .. ':live:' .. flow) == 0 then
        try('ZREM', index, flow)
      else
        there = there + 1
        if there >= 16 then break end
      end
    end
  end
end
${END}`;

/** Arguments: session, number, outlet, prefix, records, texts: name, number of fields, and these, each name and value. */
const VALUES = `${BEGIN}
local prefix, n, texts = ARGV[4], tonumber(ARGV[5]), ARGV[6]
local read, at = struct.unpack, 1
for _ = 1, n do
  local name, fields
  name, fields, at = read('<Hc0H', texts, at)
  local set, used = {'HSET', prefix .. ':values:' .. name}, 2
  for _ = 1, fields do
    set[used + 1], set[used + 2], at = read('<Hc0I4c0', texts, at)
    used = used + 2
  end
  try('DEL', set[2])
  if failed(try(unpack(set, 1, used))) then refused = refused + 1 end
end
${END}`;

/**
 * Arguments: session, number, outlet, stream, records, entries to keep in the stream (0: all), texts: id, rule, state, id of the
 * event, and the record.
 */
const DETECTED = `${BEGIN}
local stream, n, keep, texts = ARGV[4], tonumber(ARGV[5]), ARGV[6], ARGV[7]
local read, at = struct.unpack, 1
for _ = 1, n do
  local id, rule, state, event, record
  id, rule, state, event, record, at = read('<Hc0Hc0Hc0Hc0I4c0', texts, at)
  if failed(try('XADD', stream, '*', 'id', id, 'rule', rule, 'state', state, 'event', event, 'record', record)) then
    refused = refused + 1
  end
end
if keep ~= '0' then try('XTRIM', stream, 'MAXLEN', '~', keep) end
${END}`;

/** The first value of the reply of `hello`. */
export const HELLO_REPLY = { GOES_ON: 0, FENCED: 1, LOST: 2, CLAIM: 3, STALE: 4 } as const;

/**
 * Run on each new connection, and after each refusal. Arguments: session; its epoch, or 0 if it has none yet; number of
 * this greeting; number of the last batch acknowledged; number of the last batch sent; the epoch to follow, or -1;
 * prefix.
 *
 * It first runs each command of the other scripts, without effect, on a missing key. A missing permission thus shows
 * before a batch is sent, and not as refused records.
 *
 * It replies with {@link HELLO_REPLY}, epoch, number of the last batch applied, and each outlet's written, refused and
 * incomplete records.
 *
 * - A session begins by taking over the writer id. The first greeting asks for the epoch of the hash (CLAIM). The
 *   second names this epoch, and takes over if it is unchanged. A late greeting of an abandoned connection thus takes
 *   nothing over.
 * - If the epoch is as high and the session differs, another sink has taken over, and this session is over (FENCED).
 * - A lower or missing epoch, or an impossible batch number, means that the server is in an older state (LOST). The
 *   number is then set to the last acknowledged one, so that writing continues. Only the newest greeting may do this: a
 *   late one, which knows fewer acknowledgements, would set the number back (STALE).
 */
const HELLO = `
local call, writer = redis.call, KEYS[1]
local outlets = {'events', 'events.refused', 'events.incomplete', 'entries', 'entries.refused', 'entries.incomplete',
  'values', 'values.refused', 'values.incomplete', 'detected', 'detected.refused', 'detected.incomplete'}
local none = ARGV[7] .. ':none'
call('XADD', none, 'NOMKSTREAM', '*', 'field', 'value')
call('XTRIM', none, 'MAXLEN', '0')
call('ZADD', none, 'XX', '0', 'member')
call('ZRANGE', none, '0', '0')
call('ZREM', none, 'member')
call('PEXPIRE', none, '1')
for _, name in ipairs({'ZCARD', 'EXISTS', 'DEL', 'UNLINK'}) do call(name, none) end
local session, mine, greeting = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local acknowledged, sent, follows = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local state = call('HMGET', writer, 'session', 'epoch', 'greeting', 'batch', unpack(outlets))
local epoch, batch = tonumber(state[2] or 0), tonumber(state[4] or 0)
local status = ${HELLO_REPLY.GOES_ON}
if state[1] == session then
  if greeting <= tonumber(state[3] or 0) then return {${HELLO_REPLY.STALE}} end
  if mine == 0 then
    mine = epoch
  elseif batch < acknowledged or batch > sent then
    status = ${HELLO_REPLY.LOST}
  end
elseif mine > 0 then
  if epoch >= mine then return {${HELLO_REPLY.FENCED}} end
  status = ${HELLO_REPLY.LOST}
elseif follows == epoch then
  mine = epoch + 1
  call('PERSIST', writer)
else
  return {${HELLO_REPLY.CLAIM}, epoch}
end
if status == ${HELLO_REPLY.LOST} then batch = acknowledged end
call('HSET', writer, 'session', session, 'epoch', string.format('%d', mine), 'greeting', string.format('%d', greeting),
  'batch', string.format('%d', batch))
call('HINCRBY', writer, 'events', '0')
local reply = {status, mine, batch}
for k = 1, #outlets do reply[#reply + 1] = tonumber(state[k + 4] or 0) end
return reply
`;

/** Sources by name. */
export const SCRIPTS = {
  events: EVENTS,
  packed: PACKED,
  entries: ENTRIES,
  values: VALUES,
  detected: DETECTED,
  hello: HELLO,
} as const;
export type ScriptName = keyof typeof SCRIPTS;
