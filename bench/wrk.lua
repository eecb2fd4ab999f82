-- Sends the requests of the file $BENCH_REQUESTS in turn: whole HTTP requests, each ended by the character 30.
local requests, count, at = {}, 0, 0
local file = assert(io.open(os.getenv('BENCH_REQUESTS'), 'rb'))
for text in file:read('*a'):gmatch('(.-)\30') do
  count = count + 1
  requests[count] = text
end
file:close()

request = function()
  at = at % count + 1
  return requests[at]
end

done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nBENCH {"requests":%d,"micros":%d,"p50":%d,"p99":%d,"errors":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
