// Linear algebra of small matrices, rows of numbers.

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/// Lower triangular L with L·Lᵀ = a. a may be singular: a column of L whose pivot is 0 is then 0.
function cholesky(a) {
  const l = a.map((row) => row.map(() => 0));
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j <= i; j++) {
      let rest = a[i][j];
      for (let k = 0; k < j; k++) rest -= l[i][k] * l[j][k];
      if (i === j) l[i][j] = rest > 1e-12 * a[i][i] ? Math.sqrt(rest) : 0;
      else l[i][j] = l[j][j] > 0 ? rest / l[j][j] : 0;
    }
  return l;
}

/// L⁻¹·v of lower triangular L.
function solved(l, v) {
  const x = [];
  for (let i = 0; i < v.length; i++) {
    let rest = v[i];
    for (let k = 0; k < i; k++) rest -= l[i][k] * x[k];
    x.push(rest / l[i][i]);
  }
  return x;
}
