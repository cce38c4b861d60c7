t=$1; shift
for p in 1 2 5 7; do
 case $p in 1) n=16;; 2|3|4) n=8;; 5|6|7) n=4;; 8) n=2;; esac
 /tmp/b-study/hopcast simulate $t --machine systemg:$n --pattern $p "$@" --format json -q | awk -v p=$p '/"time_s"/{print "p" p, $2}'
done
