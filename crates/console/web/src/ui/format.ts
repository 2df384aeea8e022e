// Numbers and times as people read them.

/** `text`, cut after `most` characters, with its length told. */
export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`;
}

/** A number for a table: at most six figures, never an exponent where plain digits do. */
export function figure(value: number | bigint): string {
  if (typeof value === "bigint" || Number.isInteger(value)) return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "-∞";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(3);
  return value.toFixed(size >= 1000 ? 1 : size >= 100 ? 2 : size >= 1 ? 3 : 4);
}

/** A number without zeros that say nothing. */
export function plain(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** `1:05:09`, `5:09`. */
export function clockText(secs: number): string {
  const whole = Math.max(0, Math.round(secs));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (part: number) => String(part).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** `1 h 12 min`, `9 min`, `40 s`. */
export function durationText(secs: number): string {
  if (secs < 59.5) return `${Math.round(secs)} s`;
  const minutes = Math.round(secs / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `now`, `3 s`, `2 min`, `1 h`. */
export function ageText(ms: number): string {
  if (ms < 1000) return "now";
  const secs = Math.floor(ms / 1000);
  if (secs < 100) return `${secs} s`;
  return secs < 6000 ? `${Math.round(secs / 60)} min` : `${Math.round(secs / 3600)} h`;
}

/** `just now`, `3 s ago`. */
export function agoText(ms: number): string {
  const age = ageText(ms);
  return age === "now" ? "just now" : `${age} ago`;
}

/** A topic's name that breaks after its slashes before it breaks anywhere else. */
export function breakable(name: string): string {
  return name.replaceAll("/", "/\u200b");
}

export function bytesText(bytes: number): string {
  return bytes < 10000 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(0)} KiB`;
}
