// The part of MessagePack that NetworkTables uses. Reading never trusts a length before it was compared with the bytes
// that are left, never recurses, and makes no object for a number.

/** Thrown inside the reader alone; every public entry of this folder catches it. */
export class Truncated extends Error {
  constructor() {
    super("the bytes end inside an item");
  }
}

/** What a value is, before it is read. */
export type Kind = "nil" | "boolean" | "number" | "text" | "binary" | "array" | "other";

const TEXT = new TextDecoder("utf-8");

/** A cursor over one frame; set it to another frame with {@link Reader.reset}. */
export class Reader {
  private view: DataView = new DataView(new ArrayBuffer(0));
  private bytes: Uint8Array = new Uint8Array(0);
  at = 0;

  reset(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }

  get end(): boolean {
    return this.at >= this.bytes.length;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** The bytes from `from` to here; a window, not a copy. */
  since(from: number): Uint8Array {
    return this.bytes.subarray(from, this.at);
  }

  private need(count: number): number {
    const at = this.at;
    if (count > this.bytes.length - at) throw new Truncated();
    this.at = at + count;
    return at;
  }

  peek(): Kind {
    if (this.at >= this.bytes.length) throw new Truncated();
    const m = this.view.getUint8(this.at);
    if (m <= 0x7f || m >= 0xe0 || (m >= 0xca && m <= 0xd3)) return "number";
    if (m === 0xc2 || m === 0xc3) return "boolean";
    if ((m >= 0xa0 && m <= 0xbf) || (m >= 0xd9 && m <= 0xdb)) return "text";
    if (m >= 0xc4 && m <= 0xc6) return "binary";
    if ((m >= 0x90 && m <= 0x9f) || m === 0xdc || m === 0xdd) return "array";
    return m === 0xc0 ? "nil" : "other";
  }

  /** Any number as a double; NaN stands for an item that is none, so look with {@link peek} first. */
  number(): number {
    const m = this.view.getUint8(this.need(1));
    if (m <= 0x7f) return m;
    if (m >= 0xe0) return m - 0x100;
    switch (m) {
      case 0xca:
        return this.view.getFloat32(this.need(4));
      case 0xcb:
        return this.view.getFloat64(this.need(8));
      case 0xcc:
        return this.view.getUint8(this.need(1));
      case 0xcd:
        return this.view.getUint16(this.need(2));
      case 0xce:
        return this.view.getUint32(this.need(4));
      case 0xcf: {
        const at = this.need(8);
        return this.view.getUint32(at) * 4294967296 + this.view.getUint32(at + 4);
      }
      case 0xd0:
        return this.view.getInt8(this.need(1));
      case 0xd1:
        return this.view.getInt16(this.need(2));
      case 0xd2:
        return this.view.getInt32(this.need(4));
      case 0xd3: {
        const at = this.need(8);
        return this.view.getInt32(at) * 4294967296 + this.view.getUint32(at + 4);
      }
      default:
        this.at -= 1;
        this.skip();
        return NaN;
    }
  }

  /** A number exactly: a bigint where a double would round. */
  exact(): number | bigint {
    const at = this.at;
    const m = at < this.bytes.length ? this.view.getUint8(at) : 0;
    const near = this.number();
    if ((m !== 0xcf && m !== 0xd3) || Number.isSafeInteger(near)) return near;
    return m === 0xcf ? this.view.getBigUint64(at + 1) : this.view.getBigInt64(at + 1);
  }

  boolean(): boolean {
    return this.view.getUint8(this.need(1)) === 0xc3;
  }

  private length(fix: number, one: number): number {
    const m = this.view.getUint8(this.need(1));
    if (m < 0xc0) return m & fix;
    if (m === one) return this.view.getUint8(this.need(1));
    if (m === one + 1) return this.view.getUint16(this.need(2));
    return this.view.getUint32(this.need(4));
  }

  /** The bytes of a text; a window, not a copy. */
  textBytes(): Uint8Array {
    const length = this.length(0x1f, 0xd9);
    const at = this.need(length);
    return this.bytes.subarray(at, at + length);
  }

  /** A text; bytes that are no UTF-8 become the replacement character. */
  text(): string {
    return TEXT.decode(this.textBytes());
  }

  /** The bytes of a binary; a window, not a copy. */
  binary(): Uint8Array {
    const length = this.length(0, 0xc4);
    const at = this.need(length);
    return this.bytes.subarray(at, at + length);
  }

  /** An array's length; refused when fewer bytes are left, since each element takes at least one. */
  array(): number {
    const m = this.view.getUint8(this.need(1));
    let length = m & 0x0f;
    if (m === 0xdc) length = this.view.getUint16(this.need(2));
    else if (m === 0xdd) length = this.view.getUint32(this.need(4));
    if (length > this.left) throw new Truncated();
    return length;
  }

  /** Passes one whole item of any kind. */
  skip(): void {
    let open = 1;
    while (open > 0) {
      open -= 1;
      const m = this.view.getUint8(this.need(1));
      let body = 0;
      if (m >= 0x80 && m <= 0x8f) open += 2 * (m & 0x0f);
      else if (m >= 0x90 && m <= 0x9f) open += m & 0x0f;
      else if (m >= 0xa0 && m <= 0xbf) body = m & 0x1f;
      else if (m >= 0xc4 && m <= 0xdf) {
        switch (m) {
          case 0xc4:
          case 0xd9:
            body = this.view.getUint8(this.need(1));
            break;
          case 0xc5:
          case 0xda:
            body = this.view.getUint16(this.need(2));
            break;
          case 0xc6:
          case 0xdb:
            body = this.view.getUint32(this.need(4));
            break;
          case 0xc7:
            body = this.view.getUint8(this.need(1)) + 1;
            break;
          case 0xc8:
            body = this.view.getUint16(this.need(2)) + 1;
            break;
          case 0xc9:
            body = this.view.getUint32(this.need(4)) + 1;
            break;
          case 0xcc:
          case 0xd0:
            body = 1;
            break;
          case 0xcd:
          case 0xd1:
          case 0xd4:
            body = 2;
            break;
          case 0xd5:
            body = 3;
            break;
          case 0xca:
          case 0xce:
          case 0xd2:
            body = 4;
            break;
          case 0xd6:
            body = 5;
            break;
          case 0xcb:
          case 0xcf:
          case 0xd3:
            body = 8;
            break;
          case 0xd7:
            body = 9;
            break;
          case 0xd8:
            body = 17;
            break;
          case 0xdc:
            open += this.view.getUint16(this.need(2));
            break;
          case 0xdd:
            open += this.view.getUint32(this.need(4));
            break;
          case 0xde:
            open += 2 * this.view.getUint16(this.need(2));
            break;
          default:
            open += 2 * this.view.getUint32(this.need(4));
        }
      }
      this.need(body);
      if (open > this.left) throw new Truncated();
    }
  }
}

/** Writes the few items that a client sends. */
export class Writer {
  private bytes = new Uint8Array(64);
  private view = new DataView(this.bytes.buffer);
  private at = 0;

  private room(count: number): number {
    const at = this.at;
    if (at + count > this.bytes.length) {
      const more = new Uint8Array(Math.max(this.bytes.length * 2, at + count));
      more.set(this.bytes);
      this.bytes = more;
      this.view = new DataView(more.buffer);
    }
    this.at = at + count;
    return at;
  }

  /** `length` items follow; at most 15. */
  array(length: number): this {
    this.view.setUint8(this.room(1), 0x90 | (length & 0x0f));
    return this;
  }

  /** A whole number inside ±2^53, in its smallest form. */
  int(value: number): this {
    if (value >= 0 && value <= 0x7f) this.view.setUint8(this.room(1), value);
    else if (value < 0 && value >= -32) this.view.setInt8(this.room(1), value);
    else if (value >= 0 && value <= 0xffffffff) {
      const at = this.room(5);
      this.view.setUint8(at, 0xce);
      this.view.setUint32(at + 1, value);
    } else {
      const at = this.room(9);
      this.view.setUint8(at, value < 0 ? 0xd3 : 0xcf);
      this.view.setInt32(at + 1, Math.floor(value / 4294967296));
      this.view.setUint32(at + 5, value >>> 0);
    }
    return this;
  }

  /** A number as a double, whether whole or not. */
  double(value: number): this {
    const at = this.room(9);
    this.view.setUint8(at, 0xcb);
    this.view.setFloat64(at + 1, value);
    return this;
  }

  text(value: string): this {
    const utf8 = new TextEncoder().encode(value);
    if (utf8.length <= 31) this.view.setUint8(this.room(1), 0xa0 | utf8.length);
    else if (utf8.length <= 0xff) {
      const at = this.room(2);
      this.view.setUint8(at, 0xd9);
      this.view.setUint8(at + 1, utf8.length);
    } else {
      const at = this.room(5);
      this.view.setUint8(at, 0xdb);
      this.view.setUint32(at + 1, utf8.length);
    }
    const at = this.room(utf8.length);
    this.bytes.set(utf8, at);
    return this;
  }

  /** A copy of what was written, and an empty writer. */
  take(): Uint8Array<ArrayBuffer> {
    const out = this.bytes.slice(0, this.at);
    this.at = 0;
    return out;
  }
}
