/* axis.js - the figures along an axis, for the charts in saved files. */

/* About n round values between two ends. */
function linearTicks (low, high, n) {
  const rough = (high - low) / n || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(value => value >= rough * 0.999);
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) ticks.push(at * step);
  return ticks;
}

/* Powers of ten, and 2 and 5 times them when there are few; round values in short ranges. */
function logTicks (low, high, n) {
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks(low, high, n);
  const factors = decades > 4 ? [1] : decades > 1.6 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
    }
  return ticks;
}

/* The ends of an axis with a little room; 0 belongs to an axis that starts near it. */
function axisRange (values, log, zero) {
  let low = Infinity, high = -Infinity;
  for (const value of values)
    if (value !== null && value !== undefined && isFinite(value) && (!log || value > 0)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  if (low > high) return log ? [1, 10] : [0, 1];
  if (log) {
    const room = Math.max(1.02, (high / low) ** 0.05);
    return [low / room, high * room];
  }
  const room = 0.04 * (high - low) || Math.abs(high) * 0.05 || 1;
  return [zero || (low >= 0 && low < 0.25 * high) ? Math.min(0, low) : low - room, high + room];
}
