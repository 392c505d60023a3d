/** A map that keeps the most recently used entries. */
export class RecentlyUsed {
  constructor(most) {
    this.most = most;
    this.entries = new Map();
  }

  get(key) {
    const value = this.entries.get(key);
    if (value !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, value);
    }
    return value;
  }

  set(key, value) {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size > this.most) this.entries.delete(this.entries.keys().next().value);
  }
}
